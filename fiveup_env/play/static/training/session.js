// @ts-check
/** What is trained in this page: one agent, or two side by side, measured while they learn. */
import { Refused } from "../errors.js";
import { info } from "../fiveup.mjs";
import { Thinker } from "../thinkers.js";
import { t } from "../words.js";
import { forgetRun, keepRun, runKept } from "./kept.js";

/** @typedef {{ rules: string, players: number, teams?: boolean, network: string, width: number, reward: string }} Choice what a reader chooses */
/** @typedef {{ mean: number, low: number, high: number }} Rate */
/** @typedef {{ decisions: number, seconds: number, rates: Rate[] }} Point the win rate against each rival */
/** @typedef {{ name: string, choice: Choice, seed: number, decisions: number, seconds: number, next: number, points: Point[] }} Run `name` is a key of a sentence, "" where there is but one; `next` is when to measure it */

export const RIVALS = ["greedy", "partner"];
const KEPT_EVERY = 10; // seconds
/** When an agent is measured: the first times after ever more decisions, then after as many, if the last is measured. */
const GROWTH = 1.25, FARTHEST = 100_000;
/** How an agent learns, where the reader chooses nothing. */
const USUAL = { games: 256, ticks: 32, learning_rate: 2e-3, learning_rate_end: 2e-3 }, DEPTHS = /** @type {Record<string, number>} */ ({ plain: 2, guided: 1 });

/** The options of a run. @param {Run} run */
const optionsOf = ({ choice, seed }) => ({ ...USUAL, depth: DEPTHS[choice.network], ...choice, seed, horizon: choice.reward === "win" ? 1 : 0 });
/** The rules of a choice, as games take them. @param {Choice} choice */
export const rulesIn = ({ rules, players, teams }) => ({ rules, players, ...(teams === undefined ? {} : { teams }) });
/** The share of games that even players win. @param {Choice} choice */
export const evenShare = ({ players, teams }) => 1 / (players === 4 && teams !== false ? 2 : players);

/** Why the browser keeps nothing, as a sentence. @param {unknown} error */
export const notKept = (error) => t(error instanceof DOMException && error.name === "QuotaExceededError" ? "trainFull" : "trainNoStorage");

/** @param {number} ms */
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

export class Session {
  isOn = false;
  /** Whether what was begun is not yet measured and kept. */
  isBusy = false;
  /** What is shown is told of every change. @type {() => void} */
  changed = () => {};
  /** Why nothing is kept, or "". */
  trouble = "";
  #learner = new Thinker("training/trainer.js");
  #measurer = (navigator.hardwareConcurrency || 1) > 1 ? new Thinker("training/trainer.js") : this.#learner;
  #begun;
  #going = Promise.resolve();
  /** @type {{ run: Run, bytes: Uint8Array, decisions: number, seconds: number }[]} */ #waiting = [];
  #kept = -Infinity;
  #rested = 0;

  /** @param {Run[]} runs @param {number} most decisions of each; 0 for no end @param {Uint8Array[] | null} bytes of what was kept */
  constructor(runs, most, bytes = null) {
    this.runs = runs;
    this.most = most;
    this.#begun = this.#learner.ask("begin", { runs: bytes ?? runs.map(optionsOf) });
    this.#begun.catch(() => {}); // `go` says it
  }

  /** Begin with new agents. @param {{ name: string, choice: Choice }[]} chosen */
  static new(chosen, most = 0) {
    const [seed] = crypto.getRandomValues(new Uint32Array(1));
    return new Session(chosen.map((one) => ({ ...one, seed, decisions: 0, seconds: 0, next: 0, points: [] })), most);
  }

  /** Return what the browser kept, or null. */
  static async kept() {
    const found = await runKept();
    return found && new Session(found.run.runs, found.run.most, found.bytes);
  }

  get isDone() { return this.most > 0 && this.runs.every(({ decisions }) => decisions >= this.most); }

  /** Learn until it is paused or done. */
  go() {
    this.isOn = true;
    this.changed();
    return (this.#going = this.#going.catch(() => {}).then(() => this.#run()));
  }

  async #run() {
    this.isBusy = true;
    try {
      await this.#begun;
      await Promise.all([this.#learn(), this.#measure()]);
      await this.keep();
    } catch (error) {
      this.isOn = false;
      throw error;
    } finally {
      if (this.isDone) this.isOn = false;
      this.isBusy = false;
      this.changed();
    }
  }

  pause() { this.isOn = false; }

  async #learn() {
    for (const run of this.runs) if (!run.points.length) await this.#take(run);
    while (this.isOn && !this.isDone) {
      const last = this.runs.reduce((one, two) => (two.decisions < one.decisions ? two : one));
      const { decisions, seconds } = await this.#learner.ask("update", { run: this.runs.indexOf(last) });
      last.decisions = decisions;
      last.seconds += seconds;
      const isLast = this.most > 0 && decisions >= this.most;
      if (isLast || (decisions >= last.next && !this.#waiting.length && performance.now() > this.#rested)) await this.#take(last);
      if (performance.now() - this.#kept > 1000 * KEPT_EVERY) await this.keep();
      this.changed();
    }
    await this.keep();
  }

  /** Take what an agent plays now, to be measured. @param {Run} run */
  async #take(run) {
    const { decisions, seconds } = run, { bytes } = await this.#learner.ask("policy", { run: this.runs.indexOf(run) });
    run.next = Math.min(GROWTH * decisions, decisions + FARTHEST);
    this.#waiting.push({ run, bytes, decisions, seconds });
  }

  /** Measure what waits, until nothing more will come. */
  async #measure() {
    while (this.isOn && (this.#waiting.length || !this.isDone)) {
      const taken = this.#waiting.shift();
      if (!taken) {
        await pause(50);
        continue;
      }
      const { run, bytes, decisions, seconds } = taken, began = performance.now();
      run.points.push({ decisions, seconds, rates: await this.#measurer.ask("measure", { bytes, rules: rulesIn(run.choice), rivals: RIVALS }) });
      if (this.#measurer === this.#learner) this.#rested = performance.now() + 3 * (performance.now() - began); // most of its time is for learning
      this.changed();
    }
  }

  /** Keep all in the browser. */
  async keep() {
    this.#kept = performance.now();
    try {
      await keepRun({ runs: this.runs, most: this.most }, await this.#learner.ask("save", {}));
      this.trouble = "";
    } catch (error) {
      if (error instanceof Refused) throw error;
      this.trouble = notKept(error);
    }
  }

  /** The bytes of an agent, that play. @param {number} run @returns {Promise<Uint8Array>} */
  async policy(run) {
    await this.#begun;
    return (await this.#learner.ask("policy", { run })).bytes;
  }

  /** An agent as files hold it. @param {number} run @returns {Promise<import("./policies.js").Agent>} */
  async agent(run) {
    await this.#begun;
    const { weights, decisions, settings } = await this.#learner.ask("weights", { run }), { choice, seed } = this.runs[run], { network, width, depth, reward, horizon } = settings;
    const config = { learner: "self_play", rules: [choice.rules], players: [choice.players], reward, horizon: horizon ? "game" : "hand", network, width, depth, seed };
    return { shape: { network, width, depth, reward }, weights, about: { rules: [choice.rules], players: [choice.players], command: "Train an agent, in the page", code: info.made.sources, decisions, config } };
  }

  /** Give up what was trained, and its memory. */
  end() {
    this.pause();
    for (const worker of new Set([this.#learner, this.#measurer])) worker.end();
    forgetRun().catch(() => {}); // then nothing was kept
  }
}
