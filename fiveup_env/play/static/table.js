// @ts-check
/** A game with its seats, as it is kept: moves, arms, undo, the same deal again. */
import { Refused } from "./errors.js";
import { Game, layout, scramble } from "./fiveup.mjs";
import { USUAL, keyOf } from "./levels.js";
import { checkProof, freshProof, seedFrom } from "./proof.js";
import { gameOf } from "./reading.js";
import { recordOf, seedOf } from "./records.js";
import { allGames, checked, keep, kept } from "./store.js";

/** @typedef {import("./store.js").Saved} Saved */
/** @typedef {import("./store.js").Setup} Setup */

export const freshSeed = () => String(crypto.getRandomValues(new BigUint64Array(1))[0] >> 1n);
export const freshId = () => `${new Date().toISOString().slice(0, 19).replace(/\D/g, "")}-${Math.random().toString(36).slice(2, 6)}`;

/** Begin a game, with new tiles or with those of a seed. @param {Setup} setup @param {string} [seed] @param {object} [more] @returns {Saved} */
export function begun(setup, seed, more = {}) {
  const now = new Date().toISOString(), again = seed !== undefined && allGames().some((one) => one.seed === seed && one.moves.length > 0);
  const proof = seed === undefined ? freshProof() : undefined;
  return { id: freshId(), began: now, changed: now, setup, seed: seed ?? seedFrom(/** @type {import("./proof.js").Proof} */ (proof).secrets), ...(proof ? { proof } : {}), moves: [], arms: [], seen: 0, ...(again ? { again } : {}), ...more };
}

/** @param {Setup} setup */
export function rulesOf({ rules, players, teams, target, ...others }) {
  const { seat, levels, people, ...fields } = others;
  const given = teams === undefined || players !== 4 ? {} : { teams };
  return { rules, players, ...given, ...(target === undefined ? {} : { target }), ...fields };
}

export const DAILY_HANDS = 3;

export class Table {
  /** The person who looks at the screen, where several share it; null while it is passed on. @type {number | null} */
  looking = null;

  /** @param {Saved} saved */
  constructor(saved) {
    this.saved = saved;
    const { moves, arms, setup } = saved;
    while (setup.levels.length < setup.players) setup.levels.push(USUAL);
    this.game = new Game({ ...rulesOf(saved.setup), seed: BigInt(saved.seed), deals: /** @type {any} */ (saved.deals ?? []) });
    this.rules = this.game.rules;
    this.arms = /** @type {(number | null)[][]} */ ([[]]);
    for (const move of moves) this.#push(move, arms[this.game.handNumber]?.[this.game.plays.length] ?? null);
  }

  get setup() { return this.saved.setup; }
  /** Whether several people share the screen. */
  get isShared() { return Boolean(this.setup.people); }
  /** The seat whose hand is seen. */
  get seat() { return this.looking ?? this.setup.seat; }
  /** One's own seat, or -1 if one only watches or shares the screen. */
  get me() { return this.saved.watched || this.isShared ? -1 : this.seat; }
  /** Whether a person has a seat. @param {number} seat */
  isPerson(seat) { return this.setup.people ? this.setup.people[seat] !== null : seat === this.setup.seat; }
  /** Whether the seat to move is that of a person who must first be given the screen. */
  get isCovered() { return !this.isOver && this.isShared && this.isPerson(/** @type {number} */ (this.game.turn)) && this.looking !== this.game.turn; }
  get sides() { return this.game.scores.length; }
  /** @param {number} seat */
  sideOf(seat) { return seat % this.sides; }
  /** Whether the game is over or was given up; the deal of the day is over after some hands. */
  get isOver() { return this.game.isGameOver() || Boolean(this.saved.given || (this.saved.daily && this.ends.length >= DAILY_HANDS)); }
  /** The scores after each hand that has ended. */
  get ends() { return this.game.hands().filter(({ phase }) => phase !== "playing").map(({ scores }) => scores); }
  get isMine() { return !this.isOver && !this.saved.watched && !this.isCovered && this.isPerson(/** @type {number} */ (this.game.turn)); }

  /** The number of the hand whose end has not been looked at, or null. */
  get ended() {
    const last = this.game.lastHand();
    return last && last.handNumber >= this.saved.seen ? last.handNumber : null;
  }

  /** @param {string} move @param {number | null} arm */
  #push(move, arm) {
    const hand = this.game.handNumber, plays = this.game.plays.map((play) => play.move);
    this.game.push(move);
    this.place(hand, plays, move, arm);
  }

  /** Note where a move lies. @param {number} hand @param {string[]} plays before it @param {string} move @param {number | null} arm */
  place(hand, plays, move, arm) {
    this.arms[hand] ??= [];
    if (!move.includes("-")) return;
    const all = [...plays, move], arms = this.arms[hand];
    arms.push(arm);
    if (all.length === 1) arms[0] = null;
    else if (arm === null || arm === undefined) arms[all.length - 1] = layout(all, { spinners: String(this.rules.spinners), width: 46, arms }).tiles[all.length - 1].arm;
  }

  /** The tiles of the hand that is seen; "?" while the screen is passed on. @returns {string[]} */
  get hand() {
    const hand = this.game.hand(this.seat);
    return this.isShared && (this.looking === null || this.isCovered) ? hand.map(() => "?") : hand;
  }

  /** What the address of the page names. */
  get hash() { return ""; }
  get canUndo() { return !(this.saved.daily || this.saved.given || this.saved.watched || this.isShared); }
  /** Whether a person is awaited who is away. @param {number} _seat */
  isAway(_seat) { return false; }
  /** The game as a game of one's own, to study. @type {Table | null} */
  get local() { return this; }
  /** The digests that were shown before the game. @returns {string[]} */
  get digests() { return this.saved.proof?.digests ?? []; }
  /** How often its deal was begun in vain. */
  get begunAgain() { return 0; }
  /** Whether the game fits its digests, once it is over. */
  get isProved() {
    try { checkProof(this.saved.proof, this.saved.seed); } catch { return false; }
    return true;
  }
  /** Stand up. */
  leave() {}

  /** Make a move, on an arm if one was chosen, and keep the game. @param {string} move @param {number | null} [arm] */
  play(move, arm = null) {
    this.#push(move, arm);
    this.#keep();
  }

  /** Take back the last move of one's own, with what followed. Return whether there was one. */
  undo() {
    const seats = [...this.game.steps()].map(({ before }) => before.turn);
    const last = seats.lastIndexOf(this.seat);
    if (last < 0) return false;
    this.saved.helped = true;
    while (this.game.moves.length > last) this.game.pop();
    this.arms.length = this.game.handNumber + 1;
    (this.arms[this.game.handNumber] ??= []).length = this.game.plays.length;
    this.saved.seen = Math.min(this.saved.seen, this.game.handNumber);
    this.#keep();
    return true;
  }

  giveUp() {
    this.saved.given = true;
    this.#keep();
  }

  /** Note that the ends of all hands so far were looked at. */
  lookedAt() {
    this.saved.seen = (this.game.lastHand()?.handNumber ?? -1) + 1;
    this.looking = null;
    this.#keep();
  }

  get #won() {
    const { winner } = this.game, scores = this.game.lastHand()?.scores ?? [], side = this.sideOf(this.seat);
    if (this.saved.given) return false;
    return winner === null ? scores[side] === Math.max(...scores) : winner === side;
  }

  #keep() {
    this.saved.moves = this.game.moves;
    this.saved.arms = this.arms;
    if (this.isOver) this.saved.result = this.isShared ? "over" : this.#won ? "won" : "lost";
    else delete this.saved.result;
    delete this.saved.verdicts;
    keep(this.saved);
  }

  /** The key of the agents' chance. */
  get key() { return keyOf(this.saved.seed, this.game.moves.length); }

  /** The study's file: Python's commands and this page read it. @param {string[]} names */
  file(names) {
    const { proof } = this.saved, record = { ...recordOf(this.game, this.setup.rules), ...(proof ? { proof } : {}) };
    return { format: "fiveup-study", version: 1, names, record, verdicts: this.saved.verdicts ?? null, table: this.saved };
  }
}

/** The same record gets the same name, so that it is kept once. @param {string} text */
function nameOf(text) {
  let hash = 0n;
  for (const letter of text) hash = scramble(hash ^ BigInt(letter.codePointAt(0) ?? 0));
  return `record-${hash.toString(36)}`;
}

/**
 * Return games from the text of a file: studies and records, one or many; refuse what breaks the rules.
 * @param {string} text @returns {Saved[]}
 */
export function gamesIn(text) {
  let whole = null; // one game, or one a line
  try { whole = [JSON.parse(text)].flat(); } catch { /* then lines */ }
  if (whole) return whole.map(savedOf);
  const lines = text.split("\n").flatMap((line, k) => (line.trim() ? [{ line, number: k + 1 }] : []));
  if (!lines.length) throw new Refused("it has no records");
  return lines.map(({ line, number }) => {
    try { return savedOf(JSON.parse(line)); } catch (error) {
      if (error instanceof SyntaxError) error = new Refused("not valid JSON");
      throw lines.length > 1 && error instanceof Refused ? new Refused(`line ${number}: ${error.message}`) : error;
    }
  });
}

/** Return the game of a file: one's own if it is kept here, else as one that was opened. @param {any} one @returns {Saved} */
function savedOf(one) {
  const isStudy = one?.format === "fiveup-study", told = isStudy ? one.record ?? null : one, { game, deals, setup } = gameOf(told);
  const record = JSON.stringify(recordOf(game, setup.rules)), given = isStudy && one.table ? checked(one.table) : null;
  const own = given && kept(given.id);
  if (own && JSON.stringify(recordOf(new Table(own).game, setup.rules)) === record) return own;
  if (given && JSON.stringify(recordOf(new Table(given).game, setup.rules)) !== record) throw new Refused("its table is not that of its record");
  if (Number.isInteger(one.seat) && one.seat >= 0 && one.seat < setup.players) setup.seat = one.seat;
  const names = Array.isArray(one.names) && !given ? one.names.map(String) : undefined;
  const saved = begun(given?.setup ?? setup, seedOf(game), { deals, names, id: nameOf(record), opened: true, ...(told.proof ? { proof: told.proof } : {}), arms: given?.arms ?? [] });
  saved.moves = game.moves;
  saved.seen = (game.lastHand()?.handNumber ?? -1) + 1;
  if (game.winner !== null) saved.result = game.winner === saved.setup.seat % game.scores.length ? "won" : "lost";
  return saved;
}
