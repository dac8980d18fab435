// @ts-check
/**
 * Records, read: the game is played again, and all that is written is compared with what the rules
 * give. What is wrong is said in the words of `fiveup check`.
 */
import { Refused } from "./errors.js";
import { Game, info } from "./fiveup.mjs";
import { USUAL } from "./levels.js";
import { checkProof } from "./proof.js";
import { FORMAT, matches, recordOf, seedOf } from "./records.js";

const LONGEST = 100;
/** @type {string[]} */
const TILES = info.tiles;
const KINDS = {
  list: Array.isArray, text: (/** @type {unknown} */ value) => typeof value === "string", flag: (/** @type {unknown} */ value) => typeof value === "boolean",
  number: Number.isInteger, object: (/** @type {unknown} */ value) => typeof value === "object" && value !== null && !Array.isArray(value),
};
const GIVEN = ["preset", "deal", "boneyard", "legal"]; // they define the game, or were checked already
/** @type {Record<string, string>} */
const SINGULAR = { hands: "hand", moves: "move" };

/** A text in one line that is not long. @param {string} text */
function short(text) {
  const line = text.split(/\s+/).join(" ").trim();
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 4)} ...`;
}

/** A value as Python's json writes it. @param {unknown} value */
const shown = (value) => short(JSON.stringify(value, null, 1).replace(/\n\s*(?=[\]}])|(?<=[[{])\n\s*/g, ""));

/** A value as Python itself writes it. @param {unknown} value */
function named(value) {
  const words = new Map(/** @type {[unknown, string][]} */ ([[null, "None"], [true, "True"], [false, "False"]]));
  return typeof value === "string" ? short(`'${value}'`) : words.get(value) ?? shown(value);
}

/**
 * Return a field of a JSON object; refuse one that is missing, or of another kind.
 * @param {any} place @param {string} name @param {keyof typeof KINDS} kind @param {string} where @param {boolean} [orNull]
 */
function field(place, name, kind, where, orNull = false) {
  if (!KINDS.object(place)) throw new Refused(`${where} must be a JSON object, not ${named(place)}`);
  if (!Object.hasOwn(place, name)) throw new Refused(`${where}: '${name}' is missing`);
  const value = place[name];
  if (!KINDS[kind](value) && !(orNull && value === null)) throw new Refused(`${where}: '${name}' cannot be ${shown(value)}`);
  return value;
}

/** Return a tile, its higher half first. @param {unknown} text @param {string} where */
function tileOf(text, where) {
  const tile = /^[0-6]-[0-6]$/.test(String(text)) ? String(text).split("-").sort().reverse().join("-") : null;
  if (typeof text !== "string" || !tile) throw new Refused(`${where}: ${named(text)} is not a valid tile; tiles are written 5-3, from 0-0 to 6-6`);
  return tile;
}

/** @param {any} hand @param {number} players @param {number} handSize @param {number} maxPip @param {string} where */
function dealOf(hand, players, handSize, maxPip, where) {
  const hands = field(hand, "deal", "list", where), wrong = hands.find((/** @type {unknown} */ tiles) => !Array.isArray(tiles));
  if (wrong !== undefined) throw new Refused(`${where}: every hand of the deal must be a list, not ${named(wrong)}`);
  const yard = field(hand, "boneyard", "list", where), lead = field(hand, "lead", "number", where);
  const tilesOf = (/** @type {unknown[]} */ tiles) => tiles.map((tile) => tileOf(tile, where));
  /** @type {{ hands: string[][], boneyard: string[], lead: number }} */
  const deal = { hands: hands.map(tilesOf), boneyard: tilesOf(yard), lead }, sizes = deal.hands.map((tiles) => tiles.length);
  if (sizes.length !== players || sizes.some((size) => size !== handSize)) {
    throw new Refused(`${where}: the deal has hands of [${sizes.join(", ")}] tiles; the rules need ${players} hands of ${handSize}`);
  }
  const dealt = [...deal.hands.flat(), ...deal.boneyard];
  const times = TILES.map((tile) => ({ tile, count: dealt.filter((one) => one === tile).length, wanted: Number(Number(tile[0]) <= maxPip) }));
  const odd = times.filter(({ count, wanted }) => count !== wanted).map(({ tile, count }) => `${tile} ${count} times`);
  if (odd.length) throw new Refused(`${where}: the deal must hold every tile of the double-${maxPip} set once, not ${odd.join(", ")}`);
  if (lead < 0 || lead >= players) throw new Refused(`${where}: the lead must be a seat from 0 to ${players - 1}, not ${lead}`);
  return deal;
}

/** @param {any} record */
function seedIn(record) {
  const text = Object.hasOwn(record, "seed") ? field(record, "seed", "text", "the record") : "0", isNumber = /^[0-9]{1,20}$/.test(text);
  if (!isNumber || BigInt(text) >= 1n << 64n) throw new Refused(`the record: a seed is a whole number from 0 to 2**64 - 1, not ${isNumber ? text : named(text)}, as text`);
  return BigInt(text);
}

/** @param {any} record */
function rulesOf(record) {
  const { preset: _, ...own } = field(record, "rules", "object", "the record"), names = info.rule_fields;
  const players = field(record, "players", "number", "the record"), teams = field(record, "teams", "flag", "the record");
  const preset = field(record.rules, "preset", "text", "rules", true), unknown = Object.keys(own).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Refused(`there is no rule field ${named(unknown)}; known: ${names.join(", ")}`);
  const missing = names.filter((/** @type {string} */ name) => !Object.hasOwn(own, name));
  if (missing.length) throw new Refused(`the rules lack ${missing.join(", ")}`);
  if (players < 2 || players > 5) throw new Refused(`there must be 2 to 5 players, not ${players}`);
  const isKnown = preset === null || Object.hasOwn(info.presets, preset), fields = { ...own, exact_target: Number(own.exact_target), teams };
  const rules = { rules: (isKnown && preset) || "five_up", players, ...fields };
  if (!isKnown || (preset && !matches(preset, new Game(rules)))) throw new Refused(`the rules are not those of the preset ${named(preset)}`);
  return rules;
}

/** The preset from which rules differ least. @param {import("./fiveup.mjs").RuleFields} rules */
function nearest({ players, teams, ...fields }) {
  const apart = (/** @type {string} */ preset) => {
    const usual = new Game({ rules: preset, players: Number(players), teams: Boolean(teams), seed: 0 }).rules;
    return Object.entries(fields).filter(([name, value]) => usual[name] !== value).length;
  };
  return Object.keys(info.presets).filter((preset) => info.presets[preset][Number(players) - 2]).reduce((one, two) => (apart(two) < apart(one) ? two : one));
}

/** @param {any} entry @param {string} where */
function moveOf(entry, where) {
  const tile = tileOf(field(entry, "play", "text", where), where), on = field(entry, "on", "object", where, true);
  if (on === null) return tile;
  const pip = field(on, "pip", "number", where), end = field(on, "end", "text", where), move = `${tile}@${pip}${end === "double" ? "x" : ""}`;
  if (!info.moves.includes(move) || !["plain", "double"].includes(end)) throw new Refused(`${where}: ${tile} cannot be set on pip ${pip} of a ${named(end)} end`);
  return move;
}

/** @param {Game} game @param {string} move @param {string} where */
function push(game, move, where) {
  const legal = game.legalMoves();
  if (!legal.includes(move)) throw new Refused(`${where}: ${move} is not allowed for seat ${game.turn}; allowed here: ${legal.join(", ") || "none"}`);
  game.push(move);
}

/** Make the draws of a turn, where drawing is a choice. @param {Game} game @param {any} entry @param {string} where */
function draw(game, entry, where) {
  if (game.rules.draw !== "optional" || !Object.hasOwn(entry, "draws")) return;
  for (const _ of field(entry, "draws", "list", where)) push(game, "draw", where);
}

/** @param {Game} game @param {any} entry @param {string} where */
function make(game, entry, where) {
  const seat = field(entry, "player", "number", where);
  if (seat !== game.turn) throw new Refused(`${where}: seat ${game.turn} is to move, not seat ${seat}`);
  field(entry, "draws", "list", where);
  draw(game, entry, where);
  if (Object.hasOwn(entry, "legal")) {
    const given = field(entry, "legal", "list", where).map((/** @type {any} */ play) => moveOf(play, where)).sort();
    const legal = game.legalMoves().filter((move) => move.includes("-"));
    if (given.join() !== [...legal].sort().join()) throw new Refused(`${where}: 'legal' must list exactly the legal plays; allowed: ${game.legalMoves().join(", ")}`);
  }
  push(game, entry.play === null ? "pass" : moveOf(entry, where), where);
}

/** @param {Game} game @param {any} hand @param {number} number */
function replay(game, hand, number) {
  if (game.isGameOver()) throw new Refused(`hand ${number}: the game ended before it`);
  if (game.handNumber !== number) throw new Refused(`hand ${number}: the hand before it did not end`);
  for (const [k, entry] of field(hand, "moves", "list", `hand ${number}`).entries()) {
    const where = `hand ${number}, move ${k}`;
    if (field(entry, "play", "text", where, true) === null && game.rules.draw === "until_playable") continue; // a forced pass
    if (game.isGameOver() || game.handNumber !== number) throw new Refused(`${where}: the hand had already ended`);
    make(game, entry, where);
  }
  draw(game, hand, `hand ${number}`);
}

/** Refuse a record where it differs from what the rules give. @param {any} written @param {any} right @param {(string | number)[]} path */
function compare(written, right, path) {
  const refuse = (/** @type {string} */ what) => {
    /** @type {string[]} */
    const words = [];
    for (const step of path) {
      const last = words[words.length - 1];
      if (typeof step === "number") words[words.length - 1] = `${SINGULAR[last] ?? last} ${step}`;
      else words.push(step);
    }
    throw new Refused(`${words.join(", ") || "the record"}: ${what}`);
  };
  if (KINDS.object(written) && KINDS.object(right)) {
    for (const name of [...Object.keys(right), ...Object.keys(written)]) {
      if (GIVEN.includes(name)) continue;
      if (!Object.hasOwn(written, name)) refuse(`'${name}' is missing`);
      if (!Object.hasOwn(right, name)) refuse(`${named(name)} does not belong here`);
      compare(written[name], right[name], [...path, name]);
    }
  } else if (Array.isArray(written) && Array.isArray(right)) {
    for (let k = 0; k < Math.min(written.length, right.length); k++) compare(written[k], right[k], [...path, k]);
    if (written.length !== right.length) refuse(`its length is ${written.length}, but the rules give ${right.length}`);
  } else if (written !== right && !(typeof written === "string" && typeof right === "string" && written === right.split("-").reverse().join("-"))) {
    refuse(`${shown(written)} is written, but the rules give ${shown(right)}`);
  }
}

/** Refuse a proof that is not one of the deals of a game. @param {any} proof @param {Game} game @param {any} rules */
function prove(proof, game, rules) {
  checkProof(proof, seedOf(game));
  const twin = new Game({ ...rules, seed: BigInt(seedOf(game)) }), wrong = new Refused("proof: the tiles are not those that the seed deals");
  try { for (const move of game.moves) twin.push(move); } catch { throw wrong; }
  if (JSON.stringify(recordOf(twin).hands) !== JSON.stringify(recordOf(game).hands)) throw wrong;
}

/** Return the game that a record tells, with its deals and its setup; refuse what breaks the rules. @param {any} record */
export function gameOf(record) {
  if (field(record, "format", "text", "the record") !== FORMAT) throw new Refused(`the format must be '${FORMAT}'`);
  const version = field(record, "version", "number", "the record");
  if (version !== 1) throw new Refused(`the version must be 1, not ${version}`);
  const rules = rulesOf(record), { rules: _, players, ...fields } = rules, usual = new Game(rules).rules;
  const hands = field(record, "hands", "list", "the record"), ahead = Object.hasOwn(record, "deals") ? field(record, "deals", "list", "the record") : [];
  const deals = [...hands, ...ahead].map((hand, number) => dealOf(hand, players, Number(usual.hand_size), Number(usual.max_pip), `hand ${number}`));
  const game = new Game({ ...rules, deals, seed: seedIn(record) });
  for (const [number, hand] of hands.entries()) replay(game, hand, number);
  const { proof, ...written } = record;
  compare({ seed: seedOf(game), ...written }, recordOf(game, record.rules.preset), []);
  if (proof !== undefined) prove(proof, game, rules);
  const setup = { rules: record.rules.preset ?? nearest(usual), players, seat: 0, levels: Array(players).fill(USUAL), ...fields };
  return { game, deals, setup };
}
