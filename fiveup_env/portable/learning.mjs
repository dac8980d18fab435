// @ts-check
/**
 * Self-play that learns, the same byte for byte as in Python and C.
 *
 *     import { Policy, agent } from "./fiveup.mjs";
 *     import { Training } from "./learning.mjs";
 *     const run = new Training({ rules: "five_up", players: 4, width: 32, seed: 7 });
 *     while (run.decisions < 1e6) run.update();
 *     const learnt = agent("policy", { policy: new Policy(run.policy()) });
 *
 * learning.wasm lies beside this file.
 */
import { FiveUpError, checked, dataOf, gridOf, info, loaded, read, rulesOf, unknown, write } from "./fiveup.mjs";

const module = await loaded("learning.wasm"), { structs } = info;
/** @param {number} size */
const allocated = (size) => module.fiveup_allocate(size);
/** @param {number} at @param {number} size */
const bytesAt = (at, size) => new Uint8Array(module.memory.buffer, at, size);
const place = { settings: allocated(structs.settings.size), rules: allocated(structs.rules.size) };

/** A run of self-play: one network in all seats, which learns from every decision. */
export class Training {
  at = 0;
  size = 0;

  /**
   * @param {({ rules?: string, players?: number, network?: string, reward?: string } & Record<string, any>) | Uint8Array} options
   *   names as those of `info.settings`, and further ones are fields of the rules; or what `save` returned.
   */
  constructor(options = {}) {
    if (options instanceof Uint8Array) {
      this.#make(options.length);
      bytesAt(this.at, this.size).set(options);
      checked(module.fiveup_learning_settle(this.at, this.size));
      return;
    }
    const { rules = "five_up", players = 4, ...others } = options;
    const settings = /** @type {Record<string, any>} */ ({}), fields = /** @type {Record<string, any>} */ ({});
    for (const [name, value] of Object.entries(others)) (name in info.settings ? settings : fields)[name] = value;
    const bytes = rulesOf(rules, players, fields);
    putSettings(settings);
    this.#make(checked(module.fiveup_learning_size(place.settings)));
    bytesAt(place.rules, bytes.length).set(bytes);
    const grid = settings.reward === "outlook" ? scratch(8 * info.grid ** 2) : 0;
    if (grid) new Float64Array(module.memory.buffer, grid, info.grid ** 2).set(gridOf(bytes));
    checked(module.fiveup_learning_begin(place.settings, place.rules, grid, this.at, this.size));
  }

  /** Take memory, which is never given back. @param {number} size */
  #make(size) {
    this.at = allocated(size);
    this.size = size;
  }

  /**
   * Play a window and learn from it; return how many decisions it had. `progress`, from 0 to 1, is
   * the share of the run that is done, on which schedules depend.
   * @param {number} [progress]
   */
  update(progress = 0) {
    write(this.#data, "run", "progress", progress);
    return checked(module.fiveup_learning_update(this.at, this.size));
  }

  get #data() {
    return dataOf(bytesAt(this.at, structs.run.size));
  }

  /** @param {string} name @returns {any} */
  #get(name) {
    return read(this.#data, "run", name);
  }

  get updates() {
    return Number(this.#get("updates"));
  }

  get decisions() {
    return Number(this.#get("decisions"));
  }

  /** The losses and more of the last update, by name. @returns {Record<string, number>} */
  get figures() {
    return Object.fromEntries(this.#get("figures").map((/** @type {number} */ figure, /** @type {number} */ k) => [info.run_figures[k], figure]));
  }

  /** The settings, by name; `network` and `reward` are words. @returns {Record<string, any>} */
  get settings() {
    const found = Object.fromEntries(Object.keys(info.settings).map((name) => [name, read(this.#data, "run", "settings", name)]));
    return { ...found, network: info.networks[found.network], reward: info.rewards[found.reward] };
  }

  /** The weights as they learn, in one array. */
  weights() {
    const count = checked(module.fiveup_learning_weights(this.at, this.size, 0, 0));
    const at = scratch(4 * count);
    checked(module.fiveup_learning_weights(this.at, this.size, at, count));
    return new Float32Array(module.memory.buffer, at, count).slice();
  }

  /** The current policy, in bytes that `Policy` takes. */
  policy() {
    return packed(/** @type {any} */ (this.settings), this.weights());
  }

  /** The whole run in bytes, for `load`; they pack well. */
  save() {
    checked(module.fiveup_learning_settle(this.at, this.size));
    return bytesAt(this.at, this.size).slice();
  }
}

/** Put settings into their place, where `network` and `reward` are words. @param {Record<string, any>} settings */
function putSettings(settings) {
  const data = dataOf(bytesAt(place.settings, structs.settings.size));
  for (const [name, usual] of Object.entries(info.settings)) {
    /** @type {string[] | undefined} */
    const words = { network: info.networks, reward: info.rewards }[name];
    if (words && name in settings && !words.includes(settings[name])) throw unknown(name, settings[name], words);
    write(data, "settings", name, words && name in settings ? words.indexOf(settings[name]) : settings[name] ?? usual);
  }
}

let scratchAt = 0, scratchSize = 0;
/** Return a place of a size that the next call may take again. @param {number} size */
function scratch(size) {
  if (size > scratchSize) [scratchAt, scratchSize] = [allocated(size), size];
  return scratchAt;
}

/**
 * Return weights as bytes that `Policy` takes.
 * @param {{ network: string, width: number, depth: number, reward: string }} shape @param {Float32Array} weights
 */
export function packed({ network, width, depth, reward }, weights) {
  putSettings({ network, width, depth, reward });
  const size = checked(module.fiveup_learning_policy(place.settings, 0, 0, 0));
  if (weights.length !== size - info.policy_head.length) throw new FiveUpError("BAD_WEIGHTS", info.refusals.BAD_WEIGHTS[1]);
  const at = scratch(4 * (weights.length + size)), policyAt = at + 4 * weights.length;
  new Float32Array(module.memory.buffer, at, weights.length).set(weights);
  checked(module.fiveup_learning_policy(place.settings, at, policyAt, size));
  return bytesAt(policyAt, 4 * size).slice();
}
