// @ts-check
/** A worker: what it is asked, it learns or measures. */
import { Refused } from "../errors.js";
import { Policy } from "../fiveup.mjs";
import { Training } from "../learning.mjs";
import { serve } from "../serving.js";
import { winRate } from "./measure.js";

/** @type {Training[]} */
let runs = [];
/** @type {Policy | null} */
let measured = null;

/** Do what needs memory. @template T @param {() => T} does */
function withMemory(does) {
  try { return does(); } catch (error) {
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) throw new Refused("there is not enough memory for it");
    throw error;
  }
}

serve({
  /** Begin runs by options, or go on with those of bytes. @param {{ runs: (Record<string, any> | Uint8Array)[] }} asked */
  begin(asked) {
    runs = withMemory(() => asked.runs.map((one) => new Training(one)));
    return runs.map(({ decisions }) => decisions);
  },
  /** Play and learn from a window; return how much was learnt in all, and how long that took. @param {{ run: number }} asked */
  update({ run }) {
    const began = performance.now();
    withMemory(() => runs[run].update());
    return { decisions: runs[run].decisions, seconds: (performance.now() - began) / 1000 };
  },
  /** @param {{ run: number }} asked */
  policy({ run }) { return { bytes: runs[run].policy(), decisions: runs[run].decisions }; },
  /** @param {{ run: number }} asked */
  weights({ run }) { return { weights: runs[run].weights(), decisions: runs[run].decisions, settings: runs[run].settings }; },
  save() { return runs.map((run) => run.save()); },
  /** @param {{ bytes: Uint8Array, rules: import("../fiveup.mjs").GameOptions, rivals: string[] }} asked */
  measure({ bytes, rules, rivals }) {
    if (measured?.size === bytes.length >> 2) measured.put(bytes);
    else measured = new Policy(bytes);
    const policy = measured;
    return rivals.map((rival) => winRate(policy, rules, rival));
  },
});
