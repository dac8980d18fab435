// @ts-check
/**
 * What the browser keeps: settings, and every game as it goes.
 *
 * A storage that is missing, broken or full never stops a game: `trouble` says so once.
 */

import { Refused } from "./errors.js";

/** @typedef {{ rules: string, players: number, teams?: boolean, target?: number, hand_size?: number, seat: number, levels: string[], people?: (string | null)[] }} Setup a person's name at every seat of a person, where several share the screen */
/**
 * @typedef {object} Saved a game as it is kept
 * @property {string} id
 * @property {string} began
 * @property {string} changed
 * @property {Setup} setup
 * @property {string} seed
 * @property {import("./proof.js").Proof} [proof] that nobody changed the deal
 * @property {object[]} [deals] of its first hands, where no seed dealt them
 * @property {string[]} moves
 * @property {(number | null)[][]} arms
 * @property {number} seen hands whose end was looked at
 * @property {string[]} [names]
 * @property {string} [result]
 * @property {boolean} [given] up, before its end
 * @property {boolean} [opened] from a file
 * @property {boolean} [again] with tiles that were played before
 * @property {boolean} [helped] by a move that was taken back, or by eyes
 * @property {boolean} [watched]
 * @property {string} [daily] the day whose deal it is
 * @property {boolean} [late] played after that day
 * @property {Record<string, number[][]>} [rivals] the scores that levels made of it, after each hand
 * @property {{ by: string, moves: string[] }} [challenge] who sent the deal, and made these moves
 * @property {number} [rate] the error rate of one's own seat
 * @property {any} [verdicts]
 */

const PREFIX = "fiveup:", GAME = `${PREFIX}game:`;
/** @type {(sentence: string) => void} */
let trouble = () => {};
let told = false;

/** Name who says that nothing can be kept. @param {(sentence: string) => void} tell */
export function onTrouble(tell) { trouble = tell; }

/** @returns {Storage | null} */
function storage() {
  try { return globalThis.localStorage; } catch { return null; }
}

/** @param {string} name @param {string} usual */
export function remembered(name, usual) {
  try { return storage()?.getItem(PREFIX + name) ?? usual; } catch { return usual; }
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try { storage()?.setItem(PREFIX + name, value); } catch { /* a setting is no loss */ }
}

const others = "BroadcastChannel" in globalThis ? new BroadcastChannel("fiveup") : null;
/** @type {(id: string) => void} */
let changedElsewhere = () => {};
others?.addEventListener("message", ({ data }) => changedElsewhere(String(data)));

/** Name who hears that another tab changed a game. @param {(id: string) => void} tell */
export function onChange(tell) { changedElsewhere = tell; }

/** Keep a game that goes on. @param {Saved} game */
export function keep(game) {
  game.changed = new Date().toISOString();
  put(game);
  remember("latest", game.id);
  others?.postMessage(game.id);
}

/** Keep a game as it is. @param {Saved} game */
export function put(game) {
  const text = JSON.stringify(game);
  try {
    const place = storage();
    if (!place) throw new Error("there is no storage");
    while (!fits(place, GAME + game.id, text)) if (!forgetVerdicts(game.id)) throw new DOMException("", "QuotaExceededError");
    told = false;
  } catch (error) {
    if (!told) trouble(error instanceof DOMException && error.name === "QuotaExceededError" ? "diskFull" : "noStorage");
    told = true;
  }
}

/** @param {Storage} place @param {string} key @param {string} text */
function fits(place, key, text) {
  try {
    place.setItem(key, text);
    return true;
  } catch (error) {
    if (error instanceof DOMException && error.name === "QuotaExceededError") return false;
    throw error;
  }
}

/** Make room: the verdicts of the oldest judged game can be found again. @param {string} but @returns {boolean} whether there were any */
function forgetVerdicts(but) {
  const oldest = allGames().reverse().find(({ id, verdicts }) => verdicts && id !== but);
  if (!oldest) return false;
  delete oldest.verdicts;
  storage()?.setItem(GAME + oldest.id, JSON.stringify(oldest));
  return true;
}

/** @param {string} id @returns {Saved | null} */
export function kept(id) {
  try {
    const text = storage()?.getItem(GAME + id);
    return text ? checked(JSON.parse(text)) : null;
  } catch {
    setAside(id);
    return null;
  }
}

/** Set aside a game that cannot be read, and say so. @param {string} id */
export function setAside(id) {
  try {
    const place = storage(), text = place?.getItem(GAME + id);
    if (!place || text === null || text === undefined) return;
    place.setItem(`${PREFIX}broken:${id}`, text);
    place.removeItem(GAME + id);
    trouble("broken");
  } catch { /* then it stays where it is */ }
}

/** @param {any} saved @returns {Saved} */
export function checked(saved) {
  const list = (/** @type {any} */ value, /** @type {(one: any) => boolean} */ fits) => Array.isArray(value) && value.every(fits);
  const isText = (/** @type {any} */ value) => typeof value === "string", isArm = (/** @type {any} */ arm) => arm === null || (Number.isInteger(arm) && arm >= -1 && arm < 100);
  const isDeal = (/** @type {any} */ deal) => list(deal?.hands, (hand) => list(hand, isText)) && list(deal.boneyard, isText) && [undefined, 0, 1, 2, 3, 4].includes(deal.lead);
  const fine = saved && /^[\w-]{1,60}$/.test(saved.id) && list(saved.moves, isText) && list(saved.arms, (hand) => list(hand, isArm)) && list(saved.deals ?? [], isDeal)
    && saved.setup && isText(saved.setup.rules) && [2, 3, 4, 5].includes(saved.setup.players) && Number.isInteger(saved.setup.seat) && saved.setup.seat >= 0 && saved.setup.seat < saved.setup.players
    && typeof saved.seed === "string" && /^\d{1,20}$/.test(saved.seed) && list(saved.setup.levels, isText)
    && (saved.setup.people === undefined || (list(saved.setup.people, (name) => name === null || isText(name)) && saved.setup.people.length === saved.setup.players));
  if (!fine) throw new Refused("it is not a game of this page");
  return saved;
}

/** Return all games, the latest first. @returns {Saved[]} */
export function allGames() {
  const place = storage();
  if (!place) return [];
  const ids = Object.keys(place).filter((key) => key.startsWith(GAME)).map((key) => key.slice(GAME.length));
  return ids.map(kept).filter((game) => game !== null).sort((one, two) => (one.changed < two.changed ? 1 : -1));
}

/** Whether a game counts among one's results. @param {Saved} saved */
export const isResult = ({ result, daily, opened, again, watched, setup }) => Boolean(result) && !daily && !opened && !again && !watched && !setup.people;

export const latest = () => remembered("latest", "");

/** @param {string} id */
export function forget(id) {
  try { storage()?.removeItem(GAME + id); } catch { /* nothing was kept */ }
}
