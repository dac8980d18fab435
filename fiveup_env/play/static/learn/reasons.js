// @ts-check
/** Why one move is better than another: a sentence from what its player could see. */
import { info, layout, viewOf } from "../fiveup.mjs";
import { moveText } from "../telling.js";
import { pointsText, t } from "../words.js";

/** @typedef {import("../fiveup.mjs").Seen} Seen */
/** @typedef {{ points: number, replies: Map<string, number>, fitting: number, left: number, pips: number, double: boolean }} Outlook what a move brings, the hidden tiles that score after it, how many fit, how many of the own hand do, and the tile's pips */

/**
 * Return what a player can see of a move before making it.
 * @param {Seen} before @param {string} move of a tile @returns {Outlook}
 */
export function outlook(before, move) {
  const { spinners, multiple, unit, max_pip: most } = before.rules, plays = [...before.plays.map((play) => play.move), move], [set] = move.split("@");
  const hand = viewOf(before, before.turn).hand.filter((tile) => tile !== set), seen = new Set([...hand, ...plays.map((play) => play.split("@")[0])]);
  const { marks } = layout(plays, { spinners: String(spinners) }), total = marks.reduce((sum, { counts }) => sum + counts, 0);
  const sides = (/** @type {number} */ tile) => marks.filter((mark) => mark.tile === tile && mark.kind === "side").length;
  const worth = (/** @type {number} */ sum) => (sum % Number(multiple) ? 0 : (sum / Number(multiple)) * Number(unit));
  const best = (/** @type {string} */ tile) => {
    const [high, low] = tile.split("-").map(Number);
    return Math.max(0, ...marks.flatMap(({ kind, pip, tile: on }) => [[high, low], [low, high]].filter(([near]) => near === pip).map(([near, far]) => {
      const lost = kind === "plain" ? pip : kind === "side" && sides(on) === 1 ? 2 * pip : 0;
      return worth(total - lost + (near === far ? 2 * far : far));
    })));
  };
  const fits = (/** @type {string} */ tile) => marks.some(({ pip }) => tile.includes(String(pip)));
  /** @type {string[]} */
  const hidden = info.tiles.filter((/** @type {string} */ tile) => !seen.has(tile) && Number(tile[0]) <= Number(most));
  const [high, low] = set.split("-").map(Number);
  return {
    points: worth(total), replies: new Map(hidden.map((tile) => /** @type {[string, number]} */ ([tile, best(tile)])).filter(([, points]) => points > 0)),
    fitting: hidden.filter(fits).length, left: hand.filter(fits).length, pips: high + low, double: high === low,
  };
}

/** @param {Outlook} after */
function repliesText({ replies }) {
  const key = ["repliesNone", "repliesOne"][replies.size] ?? "repliesMany";
  return t(key, { count: replies.size, points: pointsText(Math.max(0, ...replies.values())) });
}

/**
 * Say why a move is better than another.
 * @param {Seen} before @param {string} best @param {string} other
 */
export function reason(before, best, other) {
  const texts = { best: moveText(best), other: moveText(other) };
  if (!best.includes("-") || !other.includes("-")) return t("why_trials", texts);
  const [one, two] = [best, other].map((move) => outlook(before, move));
  const [most, otherMost] = [one, two].map(({ replies }) => Math.max(0, ...replies.values()));
  if (one.points > two.points) return t("why_points", { ...texts, points: pointsText(one.points), others: two.points ? pointsText(two.points) : t("nothingLeft") });
  if (one.replies.size <= two.replies.size && most <= otherMost && (one.replies.size < two.replies.size || most < otherMost)) {
    return t("why_leaves", { ...texts, after: repliesText(one), otherwise: repliesText(two) });
  }
  if (one.double && !two.double) return t("why_double", texts);
  if (one.left > two.left) return t("why_left", { ...texts, count: one.left, others: two.left });
  if (one.fitting < two.fitting) return t("why_fitting", { ...texts, count: one.fitting, others: two.fitting });
  if (one.pips > two.pips) return t("why_pips", { ...texts, count: one.pips, others: two.pips });
  return t("why_trials", texts);
}
