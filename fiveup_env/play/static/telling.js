// @ts-check
/** What happened in a game, move by move, for the list and for whoever listens. */
import { pipsText, pointsText, t, tilesText } from "./words.js";

/** @typedef {import("./fiveup.mjs").Seen} Seen */
/** @typedef {{ kind: "play" | "draw" | "pass" | "end", hand: number, seat: number, plays: number, made: number, move: string, total: number, points: number, count: number }} Happening */

/**
 * Yield what a move led to: the play, the draws and passes that followed by themselves, and the end.
 * @param {{ before: Seen, move: string, after: Seen }} step @param {number} made moves before it
 * @returns {Generator<Happening>}
 */
export function* happenings({ before, move, after }, made) {
  const { players, draw } = before.rules, seat = before.turn, hand = before.handNumber;
  const usual = { hand, plays: after.plays.length, made: made + 1, move, total: after.total, points: 0, count: 0 };
  if (move === "draw") yield { ...usual, kind: "draw", seat, count: 1 };
  else if (move === "pass") yield { ...usual, kind: "pass", seat };
  else {
    const side = seat % after.scores.length;
    yield { ...usual, kind: "play", seat, points: after.scores[side] - before.scores[side] - after.endPoints[side] };
  }
  const ended = after.phase === "playing" ? null : after.ended;
  if (draw === "until_playable" && (ended === null || ended === "blocked")) {
    const seats = after.public("draw_seat").slice(before.public("drawn"), after.public("drawn"));
    for (let n = 1; n <= players; n++) {
      const other = (seat + n) % players, count = seats.filter((/** @type {number} */ one) => one === other).length;
      if (count) yield { ...usual, kind: "draw", seat: other, count };
      if (ended === null && other === after.turn) break;
      yield { ...usual, kind: "pass", seat: other };
    }
  }
  if (ended !== null) yield { ...usual, kind: "end", seat };
}

/** @param {import("./fiveup.mjs").Game} game */
export function allHappenings(game) {
  return [...game.steps()].flatMap((step, made) => [...happenings(step, made)]);
}

/** @param {string} move */
export function moveText(move) {
  if (!move.includes("-")) return t(move);
  const [tile, end] = move.split("@");
  return `${tile}${end ? t(end.endsWith("x") ? "onDouble" : "onEnd", { pip: end[0] }) : ""}`;
}

/** Tell what happened in a sentence. @param {Happening} what @param {string[]} names @param {number} me the seat of the listener */
export function told(what, names, me) {
  const who = names[what.seat], mine = what.seat === me;
  if (what.kind === "play") {
    const [tile, end] = what.move.split("@"), on = end ? t(end.endsWith("x") ? "onDouble" : "onEnd", { pip: end[0] }) : "";
    const gain = what.points === 0 ? "" : t("gain", { points: what.points });
    return t(mine ? "youPlay" : "otherPlays", { who, tile, on, total: what.total, gain: what.points === 1 ? t("gainOne") : gain });
  }
  if (what.kind === "draw") return t(mine ? "youDraw" : "otherDraws", { who, count: tilesText(what.count) });
  if (what.kind === "pass") return t(mine ? "youPass" : "otherPasses", { who });
  return t("handEnds", { number: what.hand + 1 });
}

/** Say shortly what a seat did. @param {Happening} what */
export function shortly(what) {
  if (what.kind === "play") return `${what.move.split("@")[0]}${what.points ? ` ${t("plus", { points: what.points })}` : ""}`;
  return what.kind === "draw" ? t("drawsShort", { count: what.count }) : t("passesShort");
}

/** Say what the pips of a hand count at its end, rounded by itself. @param {number} pips @param {{ multiple: number, unit: number }} rules */
export function worth(pips, { multiple, unit }) {
  const fives = Math.floor((pips + Math.floor((multiple - 1) / 2)) / multiple);
  return t(pips % multiple ? "rounded" : "worth", { pips: pipsText(pips), rounded: fives * multiple, points: pointsText(fives * unit) });
}

/**
 * Say why a total scores, or does not.
 * @param {string[]} ends @param {number} total @param {{ multiple: number, unit: number }} rules
 */
export function why(ends, total, { multiple, unit }) {
  const list = ends.join(", ");
  if (!total || total % multiple) return t("whyNot", { ends: list, total, multiple });
  const fives = total / multiple;
  return t("why", { ends: list, total, multiple, fives, points: pointsText(fives * unit) }) + (unit > 1 ? ` ${t("unitNote")}` : "");
}
