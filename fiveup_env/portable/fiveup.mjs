// @ts-check
/**
 * The games of Five Up and its family, their agents and their beliefs, from one WebAssembly module.
 *
 *     import { Game, agent } from "./fiveup.mjs";
 *     const game = new Game({ rules: "five_up", players: 2, seed: 7 });
 *     const partner = agent("partner");
 *     while (!game.isGameOver()) game.push(partner.ask(game.view()));
 *     console.log(game.scores);
 *
 * fiveup.wasm and fiveup.json lie beside this file. Moves and tiles are written as in Python: "5-3"
 * is a tile, or a lead; "5-3@5" sets it on a plain end, "5-3@5x" on the double of the pip.
 */

/** @typedef {{ offset: number, type: string, shape?: number[] }} Field */
/** @typedef {{ size: number, fields: Record<string, Field> }} Struct */
/** @typedef {Record<string, string | number | boolean>} RuleFields */
/** @typedef {{ hands: string[][], boneyard: string[], lead?: number }} Deal */
/** @typedef {{ rules?: string, players?: number, seed?: number | bigint, deals?: Deal[], teams?: boolean } & Record<string, any>} GameOptions */
/** @typedef {{ worlds?: number, ms?: number, rung?: string, tiles?: number, points?: number, doubles?: number, others?: number, playout?: string, weighed?: number, aim?: string, looks?: boolean, trust?: number, least?: number, error?: number, policy?: Policy }} AgentOptions */
/** @typedef {{ move: string, value: number, error: number, score: number }} Value */
/** @typedef {[number, number, number, number]} Box left, top, width, height */
/** @typedef {{ tile: string, box: Box, link: Box | null, direction: number, upright: boolean, halves: number[], spins: boolean, parent: number, arm: number }} PlacedTile */
/** @typedef {{ box: Box, direction: number, tile: number, kind: string, pip: number, counts: number, arm: number }} Mark */

/** An argument or an action that is refused; `name` is the code of the refusal. */
export class FiveUpError extends Error {
  /** @param {string} name @param {string} message */
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

/** @param {string} name @returns {Promise<Uint8Array>} */
async function fetched(name) {
  const url = new URL(name, import.meta.url);
  if (url.protocol === "file:") {
    const node = "node:fs/promises"; // a name that browsers and type checkers need not find
    const { readFile } = await import(node);
    return readFile(url);
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new FiveUpError("MISSING", `${url} cannot be read: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Return what a module exports. @param {string} name @returns {Promise<Record<string, any>>} */
export async function loaded(name) {
  return (await WebAssembly.instantiate(/** @type {BufferSource} */ (await fetched(name)))).instance.exports;
}

const [module, json] = await Promise.all([loaded("fiveup.wasm"), fetched("fiveup.json")]);
/** What the modules hold: structs, names and defaults; see fiveup.json. */
export const info = JSON.parse(new TextDecoder().decode(json));

// --- Memory: what goes in and out of the module lies in places of its own

/** @type {Record<string, Struct>} */
const structs = info.structs;
/** @type {string[]} */
const moveNames = info.moves;
/** @type {string[]} */
const tileNames = info.tiles;
const ACTIONS = moveNames.length;
const SIZES = { int8: 1, uint8: 1, bool: 1, int16: 2, uint16: 2, int32: 4, uint32: 4, float32: 4, int64: 8, uint64: 8, float64: 8 };

/** @param {number} size */
const allocated = (size) => module.fiveup_allocate(size);
const place = {
  game: allocated(structs.game.size),
  view: allocated(structs.view.size),
  rules: allocated(structs.rules.size),
  mistakes: allocated(structs.mistakes.size),
  options: allocated(structs.options.size),
  search: allocated(structs.search.size),
  mask: allocated(ACTIONS),
  numbers: allocated(3 * 8 * ACTIONS), // up to three rows of numbers, one for each action
  hands: allocated(4 * 5),
  boneyard: allocated(tileNames.length),
  plays: allocated(2 * tileNames.length), // a hand's plays, and their arms
  picture: allocated(structs.picture.size),
  shares: allocated(8 * 6 * tileNames.length),
  grid: allocated(8 * info.grid * info.grid),
};

/** Return how many bytes of memory the module has; they grow by need, and not by play. */
export const memoryUsed = () => module.memory.buffer.byteLength;

/** @param {number} at @param {number} size */
const bytesAt = (at, size) => new Uint8Array(module.memory.buffer, at, size);
/** @param {number} at @param {number} count */
const doublesAt = (at, count) => new Float64Array(module.memory.buffer, at, count);

/**
 * Return a result, or throw what it refuses.
 * @param {number} result @param {string} [more]
 */
export function checked(result, more = "") {
  if (result >= 0) return result;
  const [name, [, why]] = Object.entries(info.refusals).find(([, [code]]) => code === result) ?? ["FAILED", [0, ""]];
  throw new FiveUpError(name, more ? `${why}: ${more}` : why);
}

/**
 * Return a field of a struct, by its path.
 * @param {DataView} data @param {string} struct @param {...string} path
 * @returns {any}
 */
export function read(data, struct, ...path) {
  let at = 0;
  for (const name of path.slice(0, -1)) {
    at += structs[struct].fields[name].offset;
    struct = structs[struct].fields[name].type;
  }
  const field = structs[struct].fields[path[path.length - 1]];
  const count = (field.shape ?? [1]).reduce((whole, side) => whole * side, 1);
  const size = SIZES[/** @type {keyof typeof SIZES} */ (field.type)];
  const found = Array.from({ length: count }, (_, k) => number(data, field.type, at + field.offset + k * size));
  return field.shape ? found : found[0];
}

/** @param {DataView} data @param {string} type @param {number} at */
function number(data, type, at) {
  switch (type) {
    case "int8": return data.getInt8(at);
    case "uint8": case "bool": return data.getUint8(at);
    case "int16": return data.getInt16(at, true);
    case "uint16": return data.getUint16(at, true);
    case "int32": return data.getInt32(at, true);
    case "uint32": return data.getUint32(at, true);
    case "float32": return data.getFloat32(at, true);
    case "float64": return data.getFloat64(at, true);
    default: return data.getBigInt64(at, true);
  }
}

/** @param {DataView} data @param {string} struct @param {string} name @param {number | bigint} value */
export function write(data, struct, name, value) {
  const { offset, type } = structs[struct].fields[name];
  if (type === "int8") data.setInt8(offset, Number(value));
  else if (type === "int32") data.setInt32(offset, Number(value), true);
  else if (type === "int64" || type === "uint64") data.setBigUint64(offset, BigInt(value) & WORD, true);
  else data.setFloat64(offset, Number(value), true);
}

/** @param {Uint8Array} bytes */
export const dataOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @param {string} what @param {unknown} given @param {readonly string[]} allowed */
export const unknown = (what, given, allowed) =>
  new FiveUpError("UNKNOWN", `there is no ${what} ${JSON.stringify(given)}; there are ${allowed.join(", ")}`);

const WORD = (1n << 64n) - 1n;

/** Return 64 well-mixed bits for 64 bits, one to one, as Python's. @param {bigint} word */
export function scramble(word) {
  word = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
  word = ((word ^ (word >> 27n)) * 0x94d049bb133111ebn) & WORD;
  return word ^ (word >> 31n);
}

/** Return 63 random bits. */
const randomKey = () => globalThis.crypto.getRandomValues(new BigUint64Array(1))[0] >> 1n;

/** Return the number of tiles of a set. @param {number} maxPip */
const setSize = (maxPip) => ((maxPip + 1) * (maxPip + 2)) / 2;

/** @param {number} mask */
const tilesIn = (mask) => tileNames.filter((_, tile) => (mask >>> tile) & 1);

/** @param {unknown} name */
function tileOf(name) {
  const [a, b] = String(name).split("-").map(Number);
  const tile = tileNames.indexOf(`${Math.max(a, b)}-${Math.min(a, b)}`);
  if (tile < 0) throw new FiveUpError("UNKNOWN", `${JSON.stringify(name)} is not a tile such as "5-3"`);
  return tile;
}

/** @param {number} n */
const movesIn = (n) => {
  const mask = bytesAt(place.mask, ACTIONS);
  return n ? moveNames.filter((_, action) => mask[action]) : [];
};

// --- Rules

/**
 * Return rules as bytes: a preset, with some fields in place of its own.
 * @param {string} name @param {number} players @param {Record<string, any>} fields
 */
export function rulesOf(name, players, fields) {
  if (!Object.hasOwn(info.presets, name)) throw unknown("preset", name, Object.keys(info.presets));
  const preset = info.presets[name][players - 2];
  if (!preset) throw new FiveUpError("BAD_RULES", `${name} cannot be played by ${players} players; it needs 2 to 5`);
  const bytes = Uint8Array.from(preset.match(/../g).map((/** @type {string} */ byte) => parseInt(byte, 16)));
  const data = dataOf(bytes), given = { ...fields };
  if ("hand_end" in given) given.round_per ??= info.round_per[given.hand_end];
  if ("multiple" in given && read(data, "rules", "unit") > 1) given.unit ??= given.multiple;
  for (const [field, value] of Object.entries(given)) {
    if (field === "teams") {
      if (value && players !== 4) throw new FiveUpError("BAD_RULES", `partners need four players, not ${players}`);
      write(data, "rules", "sides", value ? 2 : players);
    } else if (info.rule_fields.includes(field)) {
      write(data, "rules", field, codeOf(field, value));
    } else {
      throw unknown("rule field", field, [...info.rule_fields, "teams"]);
    }
  }
  return bytes;
}

/** @param {string} field @param {unknown} value */
function codeOf(field, value) {
  const words = info.choices[field];
  if (words) {
    if (!words.includes(value)) throw unknown(`value of ${field}`, value, words);
    return words.indexOf(value);
  }
  const most = structs.rules.fields[field].type === "int8" ? 127 : 2 ** 31 - 1;
  const whole = Number(value);
  if (!Number.isInteger(whole) || whole < 0 || whole > most) {
    throw new FiveUpError("BAD_RULES", `${field} must be a whole number, not ${JSON.stringify(value)}`);
  }
  return whole;
}

/** @param {DataView} data @param {string} struct @returns {RuleFields & { players: number }} */
function rulesIn(data, struct) {
  /** @type {any} */
  const rules = {};
  for (const field of ["players", ...info.rule_fields]) {
    const value = read(data, struct, "public", "rules", field);
    rules[field] = info.choices[field]?.[value] ?? value;
  }
  rules.teams = read(data, struct, "public", "rules", "sides") < rules.players;
  return rules;
}

// --- What games and views have in common

export class Seen {
  /** @param {string} struct @param {Uint8Array} bytes */
  constructor(struct, bytes) {
    this.struct = struct;
    /** The struct itself, as Python's. */
    this.bytes = bytes;
  }

  /** @param {...string} path @returns {any} */
  get(...path) {
    return read(dataOf(this.bytes), this.struct, ...path);
  }

  /** @param {string} name @returns {any} */
  public(name) {
    return this.get("public", name);
  }

  /** All fields of the rules. */
  get rules() {
    return rulesIn(dataOf(this.bytes), this.struct);
  }

  /** The seat to move; null once the game is over. */
  get turn() {
    return this.phase === "playing" ? this.public("turn") : null;
  }

  /** "playing", "hand_over" or "game_over". */
  get phase() {
    return info.phases[this.public("phase")];
  }

  /** The scores, by side. @returns {number[]} */
  get scores() {
    return this.public("scores").slice(0, this.get("public", "rules", "sides"));
  }

  /** What the end of the hand brought, by side. @returns {number[]} */
  get endPoints() {
    return this.public("end_points").slice(0, this.get("public", "rules", "sides"));
  }

  /** How the hand ended: "domino", "blocked", "target" or "not_ended". @returns {string} */
  get ended() {
    return info.ends[this.public("ended")];
  }

  /** The side that has won; null while nobody has. @returns {number | null} */
  get winner() {
    const side = this.public("winner");
    return side < 0 ? null : side;
  }

  /** The number of the hand, from 0. @returns {number} */
  get handNumber() {
    return this.public("hand_number");
  }

  /** The total of the open ends. @returns {number} */
  get total() {
    return this.get("public", "layout", "total");
  }

  /** The plays of this hand in order. @returns {{ seat: number, move: string }[]} */
  get plays() {
    const seats = this.public("play_seat"), actions = this.public("play_action");
    return seats.slice(0, this.public("plies")).map((/** @type {number} */ seat, /** @type {number} */ k) => ({ seat, move: moveNames[actions[k]] }));
  }

  /** The number of tiles in each hand. @returns {number[]} */
  get sizes() {
    return this.public("sizes").slice(0, this.get("public", "rules", "players"));
  }
}

// --- Games

/** A game; the same seed deals the same hands as in Python. */
export class Game extends Seen {
  /** @type {Deal[]} */ #deals;
  /** @type {string[]} */ #moves = [];
  /** @type {Uint8Array[]} */ #before = [];
  /** @type {Uint8Array[]} */ #finished = [];

  /** @param {GameOptions} [options] a preset, the number of players, a seed, and fields of the rules */
  constructor({ rules = "five_up", players = 4, seed = randomKey(), deals = [], ...fields } = {}) {
    super("game", new Uint8Array(structs.game.size));
    this.#deals = deals;
    const given = rulesOf(rules, players, fields);
    const whole = typeof seed === "bigint" || Number.isSafeInteger(seed) ? BigInt(seed) : -1n;
    if (whole < 0n || whole >= 1n << 64n) {
      throw new FiveUpError("BAD_SEED", `a seed is a whole number from 0 to 2**64 - 1 (a BigInt from 2**53 on), not ${seed}`);
    }
    bytesAt(place.rules, given.length).set(given);
    const more = JSON.stringify({ rules, players, ...fields });
    checked(module.fiveup_new_game(place.game, place.rules, whole), more);
    const tiles = setSize(read(dataOf(given), "rules", "max_pip"));
    for (const deal of [...deals].reverse()) { // all are checked, and the first is dealt
      const lead = give(deal), count = deal.hands.flat().length + deal.boneyard.length;
      if (count !== tiles) checked(info.refusals.BAD_TILES[0], `${count} of ${tiles} tiles are given`);
      checked(module.fiveup_new_game_with(place.game, place.rules, whole, place.hands, place.boneyard, lead));
    }
    this.#take();
  }

  /** The tiles of a seat. @param {number} seat */
  hand(seat) {
    return tilesIn(this.get("hands")[this.#seat(seat)]);
  }

  /** @returns {string[]} */
  legalMoves() {
    this.#put();
    return movesIn(checked(module.fiveup_legal(place.game, place.mask)));
  }

  /** Every legal move, the total of the open ends after it, and what it scores. */
  outcomes() {
    this.#put();
    checked(module.fiveup_outcomes(place.game, place.numbers, place.numbers + 4 * ACTIONS));
    const found = new Int32Array(module.memory.buffer, place.numbers, 2 * ACTIONS);
    return moveNames
      .map((move, action) => ({ move, total: found[action], points: found[ACTIONS + action] }))
      .filter(({ total }) => total >= 0);
  }

  /** Make a move and return it; deal the next hand if it ends this one. @param {string} move */
  push(move) {
    const action = moveNames.indexOf(move);
    this.#put();
    const phase = action < 0 ? -Infinity : module.fiveup_move(place.game, action);
    if (phase < 0) {
      const allowed = this.legalMoves();
      const here = allowed.length ? `allowed here: ${allowed.join(", ")}` : "the game is over";
      throw new FiveUpError("ILLEGAL", `${JSON.stringify(move)} is not allowed; ${here}`);
    }
    this.#before.push(this.bytes.slice());
    this.#moves.push(move);
    this.#take();
    if (info.phases[phase] !== "playing") this.#finished.push(this.bytes.slice());
    if (info.phases[phase] === "hand_over") this.#deal();
    return move;
  }

  /** Take back the last move, and return it. */
  pop() {
    const before = this.#before.pop();
    if (!before) throw new FiveUpError("ILLEGAL", "there is no move to take back: the game has just begun");
    this.bytes.set(before);
    this.#finished.length = this.handNumber;
    return /** @type {string} */ (this.#moves.pop());
  }

  /** The deals that were given for the first hands. */
  get deals() {
    return [...this.#deals];
  }

  /** The moves made so far. */
  get moves() {
    return [...this.#moves];
  }

  /**
   * Every move, with the full state before and after it; where it ended a hand, as the hand ended.
   * @returns {Generator<{ before: Seen, move: string, after: Seen }>}
   */
  *steps() {
    const befores = [...this.#before, this.bytes].map((bytes) => new Seen("game", bytes.slice()));
    for (const [k, move] of this.#moves.entries()) {
      const hand = befores[k].handNumber, same = befores[k + 1].handNumber === hand;
      const going = same && !(k + 1 === this.#moves.length && this.isGameOver());
      yield { before: befores[k], move, after: going ? befores[k + 1] : new Seen("game", this.#finished[hand].slice()) };
    }
  }

  /** The full state of each hand: as it ended, or as it stands now. @returns {Seen[]} */
  hands() {
    const now = this.isGameOver() ? [] : [this.bytes];
    return [...this.#finished, ...now].map((bytes) => new Seen("game", bytes.slice()));
  }

  /** The hand that ended last, as it ended; null before the first has. */
  lastHand() {
    const last = this.#finished[this.#finished.length - 1];
    return last ? new Seen("game", last.slice()) : null;
  }

  isGameOver() {
    return this.phase === "game_over";
  }

  /** An independent copy. @returns {Game} */
  copy() {
    const made = new Game();
    made.bytes.set(this.bytes);
    made.#deals = this.#deals;
    made.#moves = [...this.#moves];
    made.#before = [...this.#before];
    made.#finished = [...this.#finished];
    return made;
  }

  /** What a seat may know, by default the one to move. @param {number} [seat] */
  view(seat = this.public("turn")) {
    this.#put();
    checked(module.fiveup_look(place.game, this.#seat(seat), place.view));
    return new View(bytesAt(place.view, structs.view.size).slice());
  }

  /** @param {number} seat */
  #seat(seat) {
    const players = this.get("public", "rules", "players");
    if (!Number.isInteger(seat) || seat < 0 || seat >= players) {
      throw new FiveUpError("BAD_SEAT", `seat must be from 0 to ${players - 1}, not ${seat}`);
    }
    return seat;
  }

  #put() {
    bytesAt(place.game, this.bytes.length).set(this.bytes);
  }

  #take() {
    this.bytes.set(bytesAt(place.game, this.bytes.length));
  }

  #deal() {
    const deal = this.#deals[this.handNumber + 1];
    if (deal) checked(module.fiveup_next_hand_with(place.game, place.hands, place.boneyard, give(deal)));
    else checked(module.fiveup_next_hand(place.game));
    this.#take();
  }
}

/** Put the tiles of a deal into the module's memory, and return who leads. @param {Deal} deal */
function give({ hands, boneyard, lead = 0 }) {
  const masks = new Uint32Array(module.memory.buffer, place.hands, 5).fill(0);
  hands.forEach((tiles, seat) => tiles.forEach((tile) => { masks[seat] |= 1 << tileOf(tile); }));
  const order = bytesAt(place.boneyard, tileNames.length).fill(255);
  boneyard.forEach((tile, k) => { order[k] = tileOf(tile); });
  return lead;
}

// --- Views

/** What one seat may know: everything public, its hand, and the tiles that it drew. */
export class View extends Seen {
  /** @param {Uint8Array} bytes a VIEW struct */
  constructor(bytes) {
    if (bytes.length !== structs.view.size) {
      throw new FiveUpError("BAD_VIEW", `a view has ${structs.view.size} bytes, not ${bytes.length}`);
    }
    super("view", bytes);
  }

  /** @returns {number} */
  get seat() {
    return this.get("seat");
  }

  /** The tiles of its own hand. */
  get hand() {
    return tilesIn(this.get("hand"));
  }

  /** @returns {string[]} */
  legalMoves() {
    this.put();
    return movesIn(checked(module.fiveup_legal_in_view(place.view, place.mask)));
  }

  /** The exact number of arrangements of the hidden tiles that agree with the view. */
  worlds() {
    this.put();
    checked(module.fiveup_count_worlds(place.view, place.numbers));
    const digits = new Uint32Array(module.memory.buffer, place.numbers, 4);
    return digits.reduceRight((whole, digit) => (whole << 32n) + BigInt(digit), 0n);
  }

  /** Where each hidden tile may be: its probability to be in hands 0 to 4, and in the boneyard. */
  marginals() {
    this.put();
    checked(module.fiveup_marginals(place.view, place.shares));
    const shares = doublesAt(place.shares, 6 * tileNames.length).slice();
    return Array.from({ length: 6 }, (_, k) => shares.subarray(k * tileNames.length, (k + 1) * tileNames.length));
  }

  put() {
    bytesAt(place.view, this.bytes.length).set(this.bytes);
  }
}

// --- Pictures

const KINDS = ["plain", "side", "cross"];

/**
 * Return where the tiles of the plays of one hand lie, in cells of half the width of a tile.
 *
 * `arms` are those of marks, where the players chose among equal ends; marks are those after the
 * first `shown` plays.
 * @param {string[]} plays
 * @param {{ spinners: string, width?: number, shown?: number, arms?: (number | null)[] }} options
 * @returns {{ tiles: PlacedTile[], marks: Mark[], extent: Box }}
 */
export function layout(plays, { spinners, width = 0, shown = plays.length, arms = [] }) {
  const given = new Int8Array(module.memory.buffer, place.plays, 2 * tileNames.length);
  plays.forEach((play, k) => {
    given[k] = moveNames.indexOf(play);
    given[tileNames.length + k] = arms[k] ?? -1;
  });
  checked(module.fiveup_place_tiles(
    place.plays, place.plays + tileNames.length, plays.length, info.choices.spinners.indexOf(spinners), width, shown, place.picture), plays.join(" "));
  const data = dataOf(bytesAt(place.picture, structs.picture.size));
  /** @param {string} kind @param {string} list @param {number} k */
  const part = (kind, list, k) => new DataView(data.buffer, data.byteOffset + structs.picture.fields[list].offset + k * structs[kind].size, structs[kind].size);
  return {
    extent: read(data, "picture", "extent"),
    tiles: plays.map((play, k) => {
      const one = part("felt_tile", "tiles", k), get = (/** @type {string} */ name) => read(one, "felt_tile", name);
      const link = get("link");
      return {
        tile: play.split("@")[0], box: get("box"), link: link[2] ? link : null, direction: get("direction"),
        upright: Boolean(get("upright")), halves: get("halves"), spins: Boolean(get("spins")), parent: get("parent"), arm: get("arm"),
      };
    }),
    marks: Array.from({ length: read(data, "picture", "mark_count") }, (_, k) => {
      const one = part("felt_mark", "marks", k), get = (/** @type {string} */ name) => read(one, "felt_mark", name);
      return {
        box: get("box"), direction: get("direction"), tile: get("tile"), kind: KINDS[get("kind")],
        pip: get("pip"), counts: get("counts"), arm: get("arm"),
      };
    }),
  };
}

// --- Judging

let trialsAt = 0, trialsSize = 0;

/**
 * Try moves in sampled worlds, each played out by a heuristic: what each brings the viewer's side
 * in every world, its chance to win and its points [worlds x moves x 2]. No moves: play on.
 * What is not given is as the judge of studies has it.
 * @param {View} view @param {string[]} moves
 * @param {{ playout?: string, weighed?: number, key?: bigint, first?: number, end?: number }} options
 */
export function tryMoves(view, moves, { playout = info.judge.playout, weighed = info.judge.weighed, key = 0n, first = 0, end = info.judge.worlds }) {
  const rung = info.playouts.indexOf(playout);
  if (rung < 0) throw unknown("playout", playout, info.playouts);
  const count = Math.max(1, moves.length), size = (end - first) * count * 2;
  if (size > trialsSize) {
    trialsAt = allocated(8 * size);
    trialsSize = size;
  }
  const actions = new Int8Array(module.memory.buffer, place.mask, ACTIONS);
  actions[0] = -1;
  moves.forEach((move, k) => { actions[k] = moveNames.indexOf(move); });
  putGrid(view);
  view.put();
  checked(module.fiveup_try_moves(place.view, place.mask, count, rung, weighed, place.grid, key, first, end, trialsAt));
  return doublesAt(trialsAt, size).slice();
}

/** @param {number} sides */
const sharesOf = (sides) => [...doublesAt(place.numbers, 5)].slice(0, sides);

/** Return every side's chance to win before the first deal. @param {Game} game */
export function chancesAtStart(game) {
  const view = game.view(0), { offset } = structs.public.fields.rules;
  putGrid(view);
  bytesAt(place.rules, structs.rules.size).set(view.bytes.subarray(offset, offset + structs.rules.size));
  checked(module.fiveup_chances_at_start(place.rules, place.grid, place.numbers));
  return sharesOf(game.scores.length);
}

/**
 * Return every side's chance to win: by the scores, for the state of a hand that is over, else after
 * `partner` has played on in all seats, each knowing only its own hand.
 * @param {Seen} seen a full state, as `steps` and `hands` give it
 */
export function chances(seen) {
  const { offset } = structs.game.fields.public;
  const view = new View(new Uint8Array(structs.view.size));
  view.bytes.set(seen.bytes.subarray(offset, offset + structs.public.size), structs.view.fields.public.offset);
  putGrid(view);
  bytesAt(place.game, seen.bytes.length).set(seen.bytes);
  const by = seen.phase === "playing" ? module.fiveup_worth_of_deal : module.fiveup_chances_after;
  checked(by(place.game, place.grid, place.numbers));
  return sharesOf(seen.scores.length);
}

/** Return what a seat may know of a full state. @param {Seen} seen @param {number} seat */
export function viewOf(seen, seat) {
  bytesAt(place.game, seen.bytes.length).set(seen.bytes);
  checked(module.fiveup_look(place.game, seat, place.view));
  return new View(bytesAt(place.view, structs.view.size).slice());
}

/** Make random moves in games of the usual rules, for those who measure. @param {number} count */
export function playRandomly(count) {
  const game = new Game({ seed: 1 });
  bytesAt(place.game, game.bytes.length).set(game.bytes);
  return checked(module.fiveup_play_randomly(place.game, count, 1n));
}

// --- Policies

/** A policy as `python -m fiveup_env.portable weights` writes it. */
export class Policy {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.size = bytes.length >> 2;
    this.at = allocated(bytes.length);
    this.put(bytes);
  }

  /** Replace the policy by another one of the same size. @param {Uint8Array} bytes */
  put(bytes) {
    if (bytes.length >> 2 !== this.size) throw new FiveUpError("BAD_WEIGHTS", info.refusals.BAD_WEIGHTS[1]);
    bytesAt(this.at, 4 * this.size).set(bytes);
    const head = new Float32Array(module.memory.buffer, this.at, Math.min(this.size, info.policy_head.length));
    this.aim = info.aims[head[info.policy_head.indexOf("aim")]];
  }

  /** Return a policy from a file; a name is that of a file beside this one. @param {string | URL} url */
  static async load(url) {
    return new Policy(await fetched(String(url)));
  }
}

// --- Agents

/** Refuse an option that an agent does not have. @param {string} kind @param {object} options @param {string[]} known */
function checkNames(kind, options, known) {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !known.includes(name)) throw unknown(`option of ${kind}`, name, known);
  }
}

/** Plays; makes its choices from a view alone. */
class Agent {
  /**
   * Return the move for a view whose seat is to move; `key` names the agent's own chance.
   * @param {View} view @param {bigint} [key] @returns {string}
   */
  ask(view, key = randomKey()) {
    view.put();
    return moveNames[checked(this.choose(view, key))];
  }

  /** @param {View} view @param {bigint} key @returns {number} */
  choose(view, key) {
    throw new FiveUpError("FAILED", `an agent must choose for ${view.seat}, ${key}`);
  }
}

class Heuristic extends Agent {
  /** @param {number} rung */
  constructor(rung) {
    super();
    this.rung = rung;
  }

  /** @param {View} _view @param {bigint} key */
  choose(_view, key) {
    return module.fiveup_heuristic(place.view, this.rung, key);
  }
}

/** A heuristic that overlooks and miscounts, as people do. */
class Casual extends Agent {
  /** @param {AgentOptions} options */
  constructor(options) {
    super();
    checkNames("casual", options, Object.keys(info.casual));
    this.options = { ...info.casual, ...options };
    this.rung = info.playouts.indexOf(this.options.rung);
    if (this.rung < 0) throw unknown("rung", this.options.rung, info.playouts);
    for (const name of Object.keys(structs.mistakes.fields)) {
      const chance = this.options[name];
      if (!(chance >= 0 && chance <= 1)) throw new FiveUpError("BAD_OPTIONS", `${name} is a chance from 0 to 1, not ${chance}`);
    }
  }

  /** @param {View} _view @param {bigint} key */
  choose(_view, key) {
    const data = new DataView(module.memory.buffer, place.mistakes, structs.mistakes.size);
    for (const name of Object.keys(structs.mistakes.fields)) write(data, "mistakes", name, this.options[name]);
    return module.fiveup_casual(place.view, this.rung, place.mistakes, key);
  }
}

class Network extends Agent {
  /** @param {Policy} policy */
  constructor(policy) {
    super();
    this.policy = policy;
  }

  /** @param {View} _view @param {bigint} _key */
  choose(_view, _key) {
    return module.fiveup_network(place.view, this.policy.at, this.policy.size, place.numbers);
  }

  /** The logit of every move. @param {View} view @returns {{ move: string, logit: number }[]} */
  logits(view) {
    view.put();
    checked(this.choose(view, 0n));
    const found = new Float32Array(module.memory.buffer, place.numbers, ACTIONS);
    return moveNames.map((move, action) => ({ move, logit: found[action] })).filter(({ logit }) => logit > -Infinity);
  }
}

const GRIDS_KEPT = 32;
/** @type {Map<string, Float64Array>} */
const grids = new Map();
let gridInPlace = "";

/** Return the grid of chances to win by rules. @param {Uint8Array} rules @returns {Float64Array} */
export function gridOf(rules) {
  const key = rules.join();
  let grid = grids.get(key);
  if (!grid) {
    bytesAt(place.rules, rules.length).set(rules);
    checked(module.fiveup_outlook(place.rules, place.grid));
    gridInPlace = key;
    grid = doublesAt(place.grid, info.grid ** 2).slice();
    if (grids.size >= GRIDS_KEPT) grids.delete(/** @type {string} */ (grids.keys().next().value));
    grids.set(key, grid);
  }
  return grid;
}

/** Put the grid of chances for a view's rules into its place. @param {View} view */
function putGrid(view) {
  const { offset } = structs.public.fields.rules;
  const rules = view.bytes.slice(offset, offset + structs.rules.size), key = rules.join();
  if (key === gridInPlace) return;
  const grid = gridOf(rules);
  doublesAt(place.grid, grid.length).set(grid);
  gridInPlace = key;
}

/** Tries moves in worlds that agree with the view. */
class Search extends Agent {
  /** @param {string} kind @param {AgentOptions} options */
  constructor(kind, options) {
    super();
    const usual = info.searches[kind];
    const known = ["ms", ...Object.keys(usual)].map((name) => (name === "prior" ? "policy" : name));
    if (usual.prior === "none") known.splice(known.indexOf("policy"), 1);
    checkNames(kind, options, known);
    this.options = { ms: 0, trust: 0, least: 0, error: 1, ...usual, ...options };
    const { worlds, ms, playout, policy } = this.options;
    if (usual.prior !== "none" && !policy) throw new FiveUpError("BAD_OPTIONS", `${kind} needs a policy`);
    if (policy) this.options.aim = policy.aim;
    if (kind === "policy+search" && options.trust === undefined && !ms) {
      this.options.trust = usual.trust * Math.sqrt(usual.worlds / worlds);
    }
    if (!info.playouts.includes(playout)) throw unknown("playout", playout, info.playouts);
    if (!info.aims.includes(this.options.aim)) throw unknown("aim", this.options.aim, info.aims);
    if (!(worlds >= 1 && ms >= 0)) throw new FiveUpError("BAD_OPTIONS", "a search needs worlds=1 or more and ms=0 or more");
  }

  /** @param {View} view @param {bigint} key */
  choose(view, key) {
    const began = performance.now();
    const { prior, playout, weighed, aim, looks, trust, least, error, policy } = this.options;
    const data = new DataView(module.memory.buffer, place.options, structs.options.size);
    const told = { prior: info.priors.indexOf(prior), playout: info.playouts.indexOf(playout), weighed, aim: info.aims.indexOf(aim), looks: Number(Boolean(looks)), trust, least, error };
    for (const [name, value] of Object.entries(told)) write(data, "options", name, value);
    const grid = aim === "game" ? place.grid : 0;
    if (grid) putGrid(view);
    view.put();
    let open = checked(module.fiveup_search_begin(place.view, place.options, policy?.at ?? 0, policy?.size ?? 0, grid, key, place.search));
    for (const [first, end] of this.#rounds(began)) {
      if (!open) break;
      open = checked(module.fiveup_search_on(place.search, grid, first, end));
    }
    return module.fiveup_search_result(place.search, place.numbers, place.numbers + 8 * ACTIONS, place.numbers + 16 * ACTIONS);
  }

  /**
   * What the worlds show about each move that was tried: its value (a chance to win, or points of
   * the hand), the standard error of its difference from the best, and its score, which adds the
   * prior, -Infinity for those that are clearly worse.
   * @param {View} view @param {bigint} [key] @returns {Value[]}
   */
  values(view, key = randomKey()) {
    view.put();
    checked(this.choose(view, key));
    const found = doublesAt(place.numbers, 3 * ACTIONS);
    return moveNames
      .map((move, k) => ({ move, value: found[k], error: found[ACTIONS + k], score: found[2 * ACTIONS + k] }))
      .filter(({ value }) => value > -Infinity);
  }

  /** Yield ranges of worlds while the budget lasts. @param {number} began @returns {Generator<[number, number]>} */
  *#rounds(began) {
    const { worlds, ms } = this.options;
    if (!ms) {
      yield [0, worlds];
      return;
    }
    const first = performance.now();
    for (let done = 0, more = info.block; more > 0; ) {
      yield [done, done + more];
      done += more;
      const now = performance.now();
      const fitting = Math.floor(done * ((ms - (first - began)) / (now - first) - 1));
      more = Math.max(Math.floor(fitting / 2 / info.block), fitting >= info.block ? 1 : 0) * info.block;
    }
  }
}

/**
 * Return an agent: a heuristic of the ladder, `casual`, `policy` or `student` (with `policy`),
 * `pimc`, or a network that looks ahead (`student+search`, `policy+search`, with `policy`).
 * @param {string} name @param {AgentOptions} [options]
 */
export function agent(name, options = {}) {
  const rung = info.heuristics.indexOf(name);
  if (rung >= 0) return new Heuristic(rung);
  if (name === "casual") return new Casual(options);
  if (name === "policy" || name === "student") {
    if (!options.policy) throw new FiveUpError("BAD_OPTIONS", `${name} needs a policy`);
    return new Network(options.policy);
  }
  if (Object.hasOwn(info.searches, name)) return new Search(name, options);
  throw unknown("agent", name, [...info.heuristics, "casual", "student", "policy", ...Object.keys(info.searches)]);
}
