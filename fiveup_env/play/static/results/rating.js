// @ts-check
/** A rating of one's own, from results against levels whose Elo was measured. */
import { LEVELS } from "../levels.js";

/** @typedef {import("../store.js").Saved} Saved */
/** @typedef {{ mean: number, low: number, high: number, games: number }} Rating with the bounds of its 95 % interval */

/** By how much Elo each level is ahead of the one below, in the games in which it was measured (results/levels.json). */
export const LEADS = {
  partners: [123, 102, 131, 114, 117, 101, 112, 108, 132],
  two: [67, 68, 97, 145, 107, 83, 81, 187, 101],
  fives: [40, 31, 54, 60, 57, 41, 49, 39, 134],
};
/** @typedef {keyof typeof LEADS} Measured */

/** The Elo of the levels, the weakest at 0. @param {Measured} kind */
export const eloOf = (kind) => LEADS[kind].reduce((all, lead) => [...all, all[all.length - 1] + lead], [0]);

/** The measured game that a game was, or null. @param {Saved} saved @returns {Measured | null} */
export function kindOf({ setup }) {
  const { rules, players, teams, seat: _, levels: __, ...changed } = setup;
  if (Object.values(changed).some((value) => value !== undefined) || teams === false) return null;
  const kinds = /** @type {Record<string, Measured>} */ ({ "five_up 4": "partners", "five_up 2": "two", "all_fives 4": "fives" });
  return kinds[`${rules} ${players}`] ?? null;
}

/**
 * Return a strength and its interval, all strengths in a range being as likely beforehand.
 * @param {{ own: number, against: number, won: boolean }[]} results own: the share of one's strength in that of one's side
 * @param {number} low @param {number} high @param {number} scale by how much a strength must be ahead to win e times as often as to lose
 * @returns {Rating}
 */
export function strengthOf(results, low, high, scale) {
  const points = Array.from({ length: 401 }, (_, k) => low + (high - low) * k / 400);
  const logs = points.map((point) => results.reduce((sum, { own, against, won }) => sum - Math.log1p(Math.exp((won ? -1 : 1) * (own * point - against) / scale)), 0));
  const most = Math.max(...logs), weights = logs.map((log) => Math.exp(log - most)), whole = weights.reduce((sum, weight) => sum + weight, 0);
  const below = (/** @type {number} */ share) => {
    let sum = 0;
    return points[weights.findIndex((weight) => (sum += weight / whole) >= share)];
  };
  return { mean: points.reduce((sum, point, k) => sum + point * weights[k] / whole, 0), low: below(0.025), high: below(0.975), games: results.length };
}

/** The rating that games of a kind give; a side of two is as strong as the mean of both. @param {Saved[]} games @param {Measured} kind */
export function ratingOf(games, kind) {
  const elo = eloOf(kind), level = (/** @type {string} */ one) => elo[LEVELS.indexOf(one)];
  const results = games.filter((saved) => kindOf(saved) === kind).flatMap(({ setup, result }) => {
    const { seat, levels, players } = setup, others = levels.filter((_, other) => other % 2 !== seat % 2).map(level), partner = players === 4 ? level(levels[(seat + 2) % 4]) : 0;
    const against = others.reduce((sum, one) => sum + one, 0) / others.length - partner / 2;
    return Number.isFinite(against) ? [{ own: players === 4 ? 0.5 : 1, against, won: result === "won" }] : [];
  });
  return results.length ? strengthOf(results, -400, elo[elo.length - 1] + 400, 400 / Math.LN10) : null;
}

/** Wins and losses against each level, where all opponents played it. @param {Saved[]} games */
export function byLevel(games) {
  return LEVELS.map((level) => {
    const own = games.filter(({ setup: { levels, seat, players, teams } }) => {
      const sides = players === 4 && teams !== false ? 2 : players;
      return levels.every((one, other) => other % sides === seat % sides || one === level);
    });
    const won = own.filter(({ result }) => result === "won").length;
    return { level, won, lost: own.length - won };
  });
}
