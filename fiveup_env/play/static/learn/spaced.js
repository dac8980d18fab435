// @ts-check
/** Mistakes that come back: after each time that one is solved at once, later; after an error, at once. */
import { remember, remembered } from "../store.js";

/** @typedef {{ box: number, due: number }} Note how often it was solved in a row, and the day from which on it comes back */

const KEPT = "mistakes", DAYS = [1, 3, 7, 21, 60];
export const today = () => Math.floor((Date.now() - new Date().getTimezoneOffset() * 60000) / 86400000);

/** @returns {Record<string, Note>} */
function notes() {
  try {
    const kept = JSON.parse(remembered(KEPT, "{}"));
    return Object.fromEntries(Object.entries(kept).filter(([, one]) => Number.isSafeInteger(one?.box) && one.box >= 0 && Number.isSafeInteger(one.due)));
  } catch {
    return {};
  }
}

/** Note whether a mistake was solved at once. @param {string} name @param {boolean} right */
export function noteMistake(name, right) {
  const all = notes(), box = right ? Math.min(DAYS.length, (all[name]?.box ?? 0) + 1) : 0;
  remember(KEPT, JSON.stringify({ ...all, [name]: { box, due: today() + (box ? DAYS[box - 1] : 0) } }));
}

/** From which day on each of some mistakes comes back; those never solved, from the first. @param {string[]} names */
export function dueDays(names) {
  const all = notes();
  return names.map((name) => all[name]?.due ?? 0);
}
