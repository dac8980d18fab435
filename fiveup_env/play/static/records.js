// @ts-check
/** Records, written: games as JSON, as Python writes them (RULES.md describes the format). */
import { Game, Seen, info } from "./fiveup.mjs";

export const FORMAT = "fiveup-record";
const SETTLED = ["domino", "blocked"];
/** @type {string[]} */
const TILES = info.tiles;

/** The name of a tile in records, its lower half first. @param {string} tile */
const recorded = (tile) => tile.split("-").reverse().join("-");

/** @param {Seen} state @param {(k: number) => boolean} wanted */
function drawn(state, wanted) {
  /** @type {number[]} */
  const order = state.get("order");
  return order.slice(0, state.public("boneyard")).filter((_, k) => wanted(k)).map((tile) => recorded(TILES[tile]));
}

/** The tiles that a seat has drawn since the last tile was set. @param {Seen} state @param {number} seat */
function draws(state, seat) {
  const seats = state.public("draw_seat"), plies = state.public("draw_ply");
  return drawn(state, (k) => k < state.public("drawn") && seats[k] === seat && plies[k] === state.public("plies"));
}

/** The hands as they were dealt. @param {Seen} state @returns {string[][]} */
export function dealtHands(state) {
  const hands = state.get("hands").slice(0, state.rules.players);
  for (const { seat, move } of state.plays) hands[seat] |= 1 << TILES.indexOf(move.split("@")[0]);
  const seats = state.public("draw_seat"), order = state.get("order");
  for (let k = 0; k < state.public("drawn"); k++) hands[seats[k]] &= ~(1 << order[k]);
  return hands.map((/** @type {number} */ mask) => TILES.filter((_, tile) => (mask >>> tile) & 1));
}

/** @param {string} move */
function where(move) {
  const [tile, on] = move.split("@");
  return { play: recorded(tile), on: on ? { pip: Number(on[0]), end: on.endsWith("x") ? "double" : "plain" } : null };
}

/** @param {Seen} state @param {number} first @param {number} count */
function passes(state, first, count) {
  const { players } = state.rules;
  return Array.from({ length: count }, (_, k) => {
    const player = (first + k) % players;
    return { player, draws: draws(state, player), play: null };
  });
}

/** @typedef {{ before: Seen, move: string, after: Seen }} Step */

/** @param {Seen} state @param {Step[]} steps */
function handOf(state, steps) {
  const { players } = state.rules, ended = state.ended === "not_ended" ? null : state.ended;
  /** @type {object[]} */
  const moves = [];
  let seat = state.public("lead");
  for (const { before, move, after } of steps) {
    const player = before.turn, side = player % before.scores.length;
    moves.push(...passes(before, seat, (player - seat + players) % players));
    moves.push({
      player, draws: draws(before, player), ...where(move), total: after.total,
      points: after.scores[side] - before.scores[side] - after.endPoints[side],
    });
    seat = (player + 1) % players;
  }
  if (ended === "blocked") moves.push(...passes(state, seat, players));
  else if (ended === null) moves.push(...passes(state, seat, (state.turn - seat + players) % players));
  const begun = ended === null && state.rules.draw === "optional" ? draws(state, state.turn) : [];
  return {
    lead: state.public("lead"),
    deal: dealtHands(state).map((hand) => hand.map(recorded)),
    boneyard: drawn(state, () => true),
    scores_before: (steps[0]?.before ?? state).scores,
    moves,
    ...(begun.length ? { draws: begun } : {}),
    ended,
    end_points: SETTLED.includes(String(ended)) ? state.endPoints : null,
    scores_after: state.scores,
  };
}

/** The seed of a game, as text. @param {Game} game */
export const seedOf = (game) => String(BigInt.asUintN(64, game.get("seed")));

/** Return the record of a game. @param {Game} game @param {string | null} [preset] */
export function recordOf(game, preset = null) {
  const { players, teams, ...fields } = game.rules;
  const states = game.hands();
  /** @type {Step[][]} */
  const steps = states.map(() => []);
  for (const step of game.steps()) if (step.move.includes("-")) steps[step.before.handNumber].push(step);
  const hands = states.map((state, k) => handOf(state, steps[k])), last = hands[hands.length - 1];
  if (!last.moves.length && !("draws" in last)) hands.pop();
  const ahead = game.deals.slice(hands.length).map((deal) => ({ lead: deal.lead ?? 0, deal: deal.hands.map((hand) => hand.map(recorded)), boneyard: deal.boneyard.map(recorded) }));
  return {
    format: FORMAT, version: 1,
    rules: { preset: preset && matches(preset, game) ? preset : null, ...fields, exact_target: Boolean(fields.exact_target) },
    players, teams, seed: seedOf(game), complete: game.isGameOver(), winner: game.winner,
    hands,
    ...(ahead.length ? { deals: ahead } : {}),
  };
}

/** Return whether a game has the rules of a preset. @param {string} preset @param {Game} game */
export function matches(preset, game) {
  const usually = new Game({ rules: preset, players: game.rules.players, teams: Boolean(game.rules.teams), seed: 0 }).rules;
  return JSON.stringify(usually) === JSON.stringify(game.rules);
}
