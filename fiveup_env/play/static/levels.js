// @ts-check
/**
 * The levels, from the weakest to the strongest: whom one can play against.
 *
 * A ladder that the arena has measured will take the place of this list.
 */
import { agent, scramble } from "./fiveup.mjs";

const MASK = (1n << 64n) - 1n;
const AGENTS = 0x5eedn;
const SPEC = "spec:";

/** @type {Record<string, (policy: () => Promise<import("./fiveup.mjs").Policy>) => Promise<any>>} */
const MAKERS = {
  greedy: async () => agent("greedy"),
  defensive: async () => agent("defensive"),
  partner: async () => agent("partner"),
  student: async (policy) => agent("student", { policy: await policy() }),
  pimc: async () => agent("pimc", { worlds: 256 }),
  search: async (policy) => agent("student+search", { policy: await policy(), worlds: 1000 }),
};
export const LEVELS = Object.keys(MAKERS);
/** Those that look ahead to the end of the game, for which new rules take a second to prepare. */
export const SEARCHES = ["pimc", "search"];
export const USUAL = "partner";

/** The spec of an agent that the server is asked for, or null for a level. @param {string} level */
export const specIn = (level) => (level.startsWith(SPEC) ? level.slice(SPEC.length) : null);
/** @param {string} spec */
export const asLevel = (spec) => (LEVELS.includes(spec) ? spec : SPEC + spec);

/** @param {string} level @param {() => Promise<import("./fiveup.mjs").Policy>} policy */
export const makeLevel = (level, policy) => MAKERS[level](policy);

/**
 * The key of the agents' chance: the same deal and the same number of moves get the same answers.
 * @param {string} seed @param {number} moves
 */
export function keyOf(seed, moves) {
  return scramble((scramble((BigInt(seed) + AGENTS) & MASK) + BigInt(moves)) & MASK) >> 1n;
}
