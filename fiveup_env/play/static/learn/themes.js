// @ts-check
/** The themes of a puzzle, read off what its best move does in the deal. */
import { outlook } from "./reasons.js";
import { happenings } from "../telling.js";

export const THEMES = ["scores", "passesUp", "setsDouble", "keepsDouble", "goesOut", "blocks", "feeds"];

/** @param {string} move */
const isDouble = (move) => move[0] === move[2] && move.includes("-");

/** @param {import("../fiveup.mjs").Game} game @param {string} best @returns {string[]} */
export function themesOf(game, best) {
  const { players, teams } = game.rules, seat = Number(game.turn), outcomes = game.outcomes(), most = Math.max(...outcomes.map(({ points }) => points));
  const own = outcomes.find(({ move }) => move === best)?.points ?? 0, after = game.copy();
  after.push(best);
  const ended = after.handNumber !== game.handNumber || after.isGameOver(), end = ended ? after.lastHand() : null;
  const others = ended ? [] : [...happenings({ before: game, move: best, after }, 0)].slice(1);
  const replies = ended || !best.includes("-") ? new Map() : outlook(game, best).replies;
  const top = (/** @type {number} */ other) => Math.max(0, ...game.hand(other % Number(players)).map((tile) => replies.get(tile) ?? 0));
  /** @type {Record<string, boolean>} */
  const holds = {
    scores: own > 0, passesUp: own < most, setsDouble: isDouble(best), keepsDouble: !isDouble(best) && outcomes.some(({ move }) => isDouble(move)),
    goesOut: end?.ended === "domino", blocks: others.some((what) => what.seat === (seat + 1) % Number(players) && what.kind !== "play"),
    feeds: Boolean(teams) && top(seat + 1) === 0 && top(seat + 2) > 0,
  };
  return THEMES.filter((theme) => holds[theme]);
}
