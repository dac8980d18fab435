// @ts-check
/** The levels, from the weakest to the strongest, as Python defines them: whom one can play against. */
import { agent, info, scramble } from "./fiveup.mjs";

const MASK = (1n << 64n) - 1n;
const AGENTS = 0x5eedn;

export const LEVELS = Object.keys(info.levels);
/** @type {string} */
export const USUAL = info.usual_level;
/** Every other one of those that come with the page: to compare with. */
export const SOME = LEVELS.filter((level, k) => k % 2 === 0 && !isFetched(level));
/** Those that look ahead to the end of the game, for which new rules take a second to prepare. */
export const SEARCHES = LEVELS.filter((level) => Object.hasOwn(info.searches, info.levels[level].agent));

/** Whether a level is an agent of the reader's own, which the browser keeps under this name. @param {string} level */
export function isTrained(level) { return level.startsWith("trained:"); }
/** Whether a level needs a network, which is fetched when it is first asked. @param {string} level */
export function isFetched(level) { return isTrained(level) || Boolean(info.levels[level]?.policy); }

/** The spec of an agent that the server is asked for, or null for what the page plays. @param {string} level */
export const specIn = (level) => (LEVELS.includes(level) || info.heuristics.includes(level) || isTrained(level) ? null : level);
/** The level that a spec names or stands for, or else the spec. @param {string} spec */
export const asLevel = (spec) => LEVELS.find((level) => info.levels[level].spec === spec) ?? spec;

/** The specs in a list; a comma inside one belongs to its options. @param {string} text */
export const specsIn = (text) => text.split(/,(?=[^=,]*(?:,|$|:))/).map((spec) => spec.trim()).filter(Boolean);

/** @param {string} level @param {(name: string) => Promise<import("./fiveup.mjs").Policy>} policy */
export async function makeLevel(level, policy) {
  const one = isTrained(level) ? { agent: "policy", policy: level } : info.levels[level] ?? { agent: level };
  return agent(one.agent, { ...one.options, ...(one.policy ? { policy: await policy(one.policy) } : {}) });
}

/**
 * The key of the agents' chance: the same deal and the same number of moves get the same answers.
 * @param {string} seed @param {number} moves
 */
export function keyOf(seed, moves) {
  return scramble((scramble((BigInt(seed) + AGENTS) & MASK) + BigInt(moves)) & MASK) >> 1n;
}
