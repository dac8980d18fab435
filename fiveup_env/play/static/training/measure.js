// @ts-check
/** How often a policy wins, in games that it never learns from. */
import { Game, agent } from "../fiveup.mjs";

const FIRST_SEED = 5_000_000_000n; // of the deals; streams that are learnt from are named by other numbers
const LEAST_DEALS = 15, MOST_DEALS = 60, SECONDS = 0.7; // as many as can be played in this time

/**
 * Return the share of games that a policy wins against a heuristic, with its 95 % interval. Every deal is played from each side.
 * @param {import("../fiveup.mjs").Policy} policy @param {import("../fiveup.mjs").GameOptions} rules @param {string} rival
 */
export function winRate(policy, rules, rival) {
  const own = agent("policy", { policy }), other = agent(rival), shares = [], until = performance.now() + 1000 * SECONDS;
  for (let deal = 0; deal < LEAST_DEALS || (deal < MOST_DEALS && performance.now() < until); deal++) {
    let wins = 0, sides = 1;
    for (let side = 0; side < sides; side++) {
      const game = new Game({ ...rules, seed: FIRST_SEED + BigInt(deal) });
      sides = game.scores.length;
      for (let key = 0n; !game.isGameOver(); key++) game.push((/** @type {number} */ (game.turn) % sides === side ? own : other).ask(game.view(), key));
      wins += Number(game.winner === side);
    }
    shares.push(wins / sides);
  }
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length, square = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0);
  const bound = 1.96 * Math.sqrt(square / (shares.length - 1) / shares.length);
  return { mean, low: Math.max(0, mean - bound), high: Math.min(1, mean + bound) };
}
