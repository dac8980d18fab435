// @ts-check
/** A game that goes on at a server, as one's own seat sees it. */
import { Game, Seen, View, info } from "../fiveup.mjs";
import { asLevel } from "../levels.js";
import { kept, put } from "../store.js";
import { Table, begun, rulesOf } from "../table.js";
import { localOf, pledgeOf } from "./pledge.js";

/** @typedef {{ move: string, arm: number | null, after: string, hands?: number[], dealt?: string }} SeenStep a move, and views of one's seat in base64 */
/** @typedef {{ name: string | null, spec: string, here: boolean, came: boolean, silent: boolean, stands_in: boolean }} Seat */
/** @typedef {{ move: string, total: number, points: number }} Choice */
/** @typedef {{ table: string, setup: any, seat: number, seats: Seat[], start: string | null, steps: SeenStep[], choices: Choice[], file: object | null }} Told what a server says of a table */

const { structs } = info;

/** @param {string} text in base64 */
const viewIn = (text) => new View(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));

/** Return a full state that is blank where the seat of a view knows nothing: to read, not to play on. @param {View} view @param {number[]} [hands] those of all seats, once they are shown */
function stateOf(view, hands) {
  const state = new Uint8Array(structs.game.size), data = new DataView(state.buffer), { fields } = structs.game;
  const { offset } = structs.view.fields.public, held = hands ?? [0, 1, 2, 3, 4].map((seat) => (seat === view.seat ? view.get("hand") : 0));
  state.set(view.bytes.subarray(offset, offset + structs.public.size), fields.public.offset);
  held.forEach((mask, seat) => data.setUint32(fields.hands.offset + 4 * seat, mask, true));
  view.get("drawn").forEach((/** @type {number} */ tile, /** @type {number} */ k) => data.setInt8(fields.order.offset + k, tile));
  return state;
}

/** A game that is told move by move. */
class SeenGame extends Game {
  /** @type {{ before: Seen, move: string, after: Seen }[]} */ #steps = [];
  /** @type {Uint8Array[]} */ #ended = [];
  /** @type {View} */ #view;
  /** What one may do, if it is one's turn. @type {Choice[]} */ choices = [];

  /** @param {import("../store.js").Setup} setup @param {string} start */
  constructor(setup, start) {
    super({ ...rulesOf(setup), seed: 0n });
    this.#view = viewIn(start);
    this.bytes.set(stateOf(this.#view));
  }

  /** @param {SeenStep} step */
  follow({ move, after, hands, dealt }) {
    const before = new Seen("game", this.bytes.slice()), state = stateOf(viewIn(after), hands);
    this.#steps.push({ before, move, after: new Seen("game", state) });
    if (hands) this.#ended.push(state);
    this.#view = viewIn(dealt ?? after);
    this.bytes.set(dealt ? stateOf(this.#view) : state);
  }

  view() { return this.#view; }
  outcomes() { return this.choices; }
  legalMoves() { return this.choices.map(({ move }) => move); }

  get moves() { return this.#steps.map(({ move }) => move); }
  *steps() { yield* this.#steps; }
  hands() { return [...this.#ended, ...(this.isGameOver() ? [] : [this.bytes])].map((bytes) => new Seen("game", bytes.slice())); }
  lastHand() { return this.#ended.length ? this.hands()[this.#ended.length - 1] : null; }
}

/** A table at which people sit by links. */
export class HostedTable extends Table {
  /** @type {SeenGame} */ #seen;
  /** @type {SeenStep[]} */ #news = [];
  /** @type {((move: string | null) => void) | null} */ #waiting = null;
  #sent = false; // whether a move is on its way
  /** @type {Table | null} */ #local = null; // once it is over

  /** @param {Told} told @param {import("./line.js").Line} line */
  constructor(told, line) {
    const { people, ...setup } = told.setup;
    super(begun({ ...setup, seat: told.seat, levels: setup.levels.map(asLevel) }, "0", { id: `table-${told.table}` }));
    this.line = line;
    this.pledge = pledgeOf(line.link);
    this.seats = told.seats;
    this.game = this.#seen = new SeenGame(this.setup, /** @type {string} */ (told.start));
    for (const step of told.steps) this.#show(step);
    this.saved.seen = this.game.handNumber;
    this.hear({ ...told, steps: [] });
  }

  get hash() { return `#seat=${this.line.link}`; }
  get canUndo() { return false; }
  get isMine() { return super.isMine && !this.#sent && !this.#news.length; }
  /** @param {number} seat */
  isAway(seat) { return this.seats[seat].name !== null && !this.seats[seat].here && !this.seats[seat].stands_in; }

  /** Hear what the server says. @param {{ seats?: Seat[], first?: number, steps?: SeenStep[], choices?: Choice[], file?: object | null }} told */
  hear({ seats = this.seats, first, steps = [], choices, file }) {
    this.seats = seats;
    this.saved.names = seats.map(({ name }) => name ?? "");
    if (first === this.game.moves.length + this.#news.length) this.#news.push(...steps);
    if (choices) this.#seen.choices = choices;
    if (file) this.#read(file);
    if (this.#news.length) this.#wake();
  }

  /** Read the whole game, now that it is over. @param {object} file */
  #read(file) {
    this.#local = localOf(file);
    if (this.#local && !kept(this.#local.saved.id)) put(this.#local.saved);
  }

  /** The digests that were shown before the game. @returns {string[]} */
  get digests() { return this.pledge.digests ?? []; }
  get begunAgain() { return this.pledge.again; }

  /** Whether the whole game is what was seen, and its proof is of what was committed to. */
  get isProved() {
    const { digests, secret } = this.pledge, proof = this.#local?.saved.proof, hands = (/** @type {Game} */ game) => String(game.hands().map((hand) => hand.get("hands")));
    return Boolean(digests && proof) && String(proof?.digests) === String(digests) && Boolean(proof?.secrets.includes(secret))
      && String(this.#local?.game.moves) === String(this.game.moves) && hands(/** @type {Table} */ (this.#local).game) === hands(this.game);
  }

  /** Hear that something was refused: a move, if one is on its way. */
  refused() {
    this.#sent = false;
    this.#wake();
  }

  #wake() {
    this.#waiting?.(this.#news[0]?.move ?? null);
    this.#waiting = null;
  }

  /** Send a move to the server. @param {string} move @param {number | null} arm */
  send(move, arm) {
    this.#sent = true;
    this.line.ask({ type: "move", made: this.game.moves.length, move, arm });
  }

  /** Return the next move, or null once one's own was refused. @returns {Promise<string | null>} */
  news() {
    return new Promise((done) => {
      this.#waiting = done;
      if (this.#news.length) this.#wake();
    });
  }

  /** Show the next move. */
  play() {
    this.#sent = false;
    this.#show(/** @type {SeenStep} */ (this.#news.shift()));
  }

  /** @param {SeenStep} step */
  #show(step) {
    const hand = this.game.handNumber, plays = this.game.plays.map(({ move }) => move);
    this.#seen.follow(step);
    this.place(hand, plays, step.move, step.arm);
  }

  get local() { return this.#local; }
  leave() { this.line.close(); }
  lookedAt() { this.saved.seen = (this.game.lastHand()?.handNumber ?? -1) + 1; }
}
