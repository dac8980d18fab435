// @ts-check
/** Why a move is worse: one sentence from what its player could see. */
import { info, layout, viewOf } from "./fiveup.mjs";
import { pointsText, t } from "./words.js";

/** @typedef {import("./fiveup.mjs").Seen} Seen */

/**
 * Return what scores after a move: the points of every tile that its player does not see, and that
 * makes a multiple at some open end.
 * @param {Seen} before @param {string} move @returns {Map<string, number>}
 */
export function repliesTo(before, move) {
  const { spinners, multiple, unit, max_pip: most } = before.rules, seat = before.turn, plays = [...before.plays.map((play) => play.move), move];
  const seen = new Set([...viewOf(before, seat).hand, ...plays.map((play) => play.split("@")[0])]);
  const { marks } = layout(plays, { spinners: String(spinners) }), total = marks.reduce((sum, { counts }) => sum + counts, 0);
  const sides = (/** @type {number} */ tile) => marks.filter((mark) => mark.tile === tile && mark.kind === "side").length;
  const best = (/** @type {string} */ tile) => {
    const [high, low] = tile.split("-").map(Number);
    return Math.max(0, ...marks.flatMap(({ kind, pip, tile: on }) => [[high, low], [low, high]].filter(([near]) => near === pip).map(([near, far]) => {
      const lost = kind === "plain" ? pip : kind === "side" && sides(on) === 1 ? 2 * pip : 0;
      const after = total - lost + (near === far ? 2 * far : far);
      return after % Number(multiple) ? 0 : (after / Number(multiple)) * Number(unit);
    })));
  };
  /** @type {string[]} */
  const hidden = info.tiles.filter((/** @type {string} */ tile) => !seen.has(tile) && Number(tile[0]) <= Number(most));
  return new Map(hidden.map((tile) => /** @type {[string, number]} */ ([tile, best(tile)])).filter(([, points]) => points > 0));
}

/**
 * Say why a move is worse than the best, or "" where the numbers do not tell.
 * @param {Seen} before @param {string} move @param {string} best @param {[number, number]} gains what both score at once
 */
export function reason(before, move, best, [own, other]) {
  if (other > own) return t("why_points", { points: pointsText(other), own: own ? pointsText(own) : t("nothingLeft") });
  if (!move.includes("-") || !best.includes("-")) return "";
  const [mine, theirs] = [move, best].map((one) => [...repliesTo(before, one).values()]);
  const [most, otherMost] = [mine, theirs].map((points) => Math.max(0, ...points));
  if (mine.length <= theirs.length && most <= otherMost) return "";
  return t("why_leaves", { count: mine.length, most: pointsText(most), other: theirs.length, otherMost: pointsText(otherMost) });
}
