// @ts-check
/** The language of the page: one file of sentences for each, chosen by the reader or the browser. */
import de from "./words/de.js";
import en from "./words/en.js";
import { remembered, remember } from "./store.js";

/** @type {Record<string, Record<string, string>>} */
export const TONGUES = { en, de };

const usual = navigator.language.startsWith("de") ? "de" : "en";
let tongue = remembered("tongue", usual);
if (!(tongue in TONGUES)) tongue = usual;

export const currentTongue = () => tongue;

/** @param {string} name */
export function speak(name) {
  tongue = name;
  remember("tongue", name);
  translate();
}

/**
 * Return a sentence, with its words in braces filled in, and numbers as the language writes them.
 * @param {string} key @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  return TONGUES[tongue][key].replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? decimal(value) : String(value);
  });
}

/** Write every sentence that stands in the page itself. */
export function translate() {
  document.documentElement.lang = tongue;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.getAttribute("data-t") ?? "");
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", t(element.getAttribute("data-label") ?? ""));
}

/** @param {number} count */
export const tilesText = (count) => (count === 1 ? t("oneTile") : t("tiles", { count }));
/** @param {number} pips */
export const pipsText = (pips) => (pips === 1 ? t("onePip") : t("pips", { pips }));
/** @param {number} points */
export const pointsText = (points) => (points === 1 ? t("pointsOne") : t("pointsMany", { points }));
/** @param {string[]} words */
export const listText = (words) => (words.length < 2 ? words.join() : t("and", { one: words.slice(0, -1).join(", "), two: words[words.length - 1] }));
/** A number as the language writes it, with a true minus sign. @param {number} value @param {number} [digits] */
export const decimal = (value, digits = 0) => value.toLocaleString(tongue, { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
/** A change, with its sign. @param {number} value @param {number} [digits] */
export const signed = (value, digits = 0) => `${value > 0 ? "+" : ""}${decimal(value, digits)}`;
/** @param {number[]} scores */
export const scoresText = (scores) => scores.map((score) => decimal(score)).join(" : ");
/** @param {number} value */
export const percent = (value) => `${decimal(100 * value, 1)} %`;
