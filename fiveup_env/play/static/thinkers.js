// @ts-check
/** The workers: games ask the first, judging has the others. */

import { Refused } from "./errors.js";
import { SOME } from "./levels.js";

export const judgeCount = Math.min(4, navigator.hardwareConcurrency || 2);

export class Thinker {
  /** @type {Map<number, { done: (found: any) => void, failed: (error: Error) => void }>} */ #waiting = new Map();
  #next = 0;
  /** @type {object[] | null} */ #early = []; // what was asked before the worker listens
  #worker;

  /** @param {string} file */
  constructor(file = "thinker.js") {
    this.#worker = new Worker(new URL(file, import.meta.url), { type: "module" });
    this.#worker.addEventListener("message", ({ data }) => {
      if (data === "ready") {
        for (const message of this.#early ?? []) this.#worker.postMessage(message);
        this.#early = null;
        return;
      }
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.error === undefined) waiting?.done(data.found);
      else waiting?.failed(new (data.isRefused ? Refused : Error)(data.error));
    });
    this.#worker.addEventListener("error", () => {
      for (const { failed } of this.#waiting.values()) failed(new Refused("a worker could not be loaded"));
      this.#waiting.clear();
    });
  }

  get busy() { return this.#waiting.size; }

  /** Give up the worker, with all that it was asked and all its memory. */
  end() { this.#worker.terminate(); }

  /** @param {string} what @param {object} asked @returns {Promise<any>} */
  ask(what, asked) {
    const id = this.#next++;
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed });
      if (this.#early) this.#early.push({ id, what, asked });
      else this.#worker.postMessage({ id, what, asked });
    });
  }
}

const player = new Thinker();
/** @type {Thinker[]} */
const judges = [];

/** Ask the worker of the table. @param {string} what @param {object} asked */
export const ask = (what, asked) => player.ask(what, asked);

function allJudges() {
  while (judges.length < judgeCount) judges.push(new Thinker());
  return judges;
}

/** Ask a worker that judges. @param {string} what @param {object} asked */
export const judge = (what, asked) => allJudges().reduce((one, two) => (two.busy < one.busy ? two : one)).ask(what, asked);

/** Let those that judge make ready for the rules of a view. @param {Uint8Array} view */
export function prepareJudges(view) {
  for (const one of allJudges()) if (!one.busy) one.ask("warm", { view, levels: SOME }).catch(() => {});
}
