// @ts-check
/** What the parts of the page share: elements, names, and rows of scores and values. */
import { Refused } from "./errors.js";
import { FiveUpError } from "./fiveup.mjs";
import { LEVELS, isTrained } from "./levels.js";
import { moveText } from "./telling.js";
import { decimal, percent, t } from "./words.js";

/** @typedef {import("./table.js").Table} Table */

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/**
 * Return an element with attributes and children.
 * @param {string} tag @param {Record<string, string>} [attributes] @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** @param {string} sentence @param {boolean} [wrong] */
export function say(sentence, wrong = false) {
  byId("said").textContent = sentence;
  byId("said").classList.toggle("wrong", wrong);
}

/** What is said of an error: the sentence of what was refused; of anything else, that it was not expected. @param {unknown} error */
export function sentenceOf(error) {
  if (error instanceof Refused || error instanceof FiveUpError) return error.message;
  console.error(error);
  return t("unexpected");
}

/** The people who play a level: as many as there are seats. @param {string} level */
export const peopleOf = (level) => t(`name_${LEVELS.indexOf(level) + 1}`).split(" ");

/** Letters that are written from right to left: next to them, figures change places unless the name is set apart. */
const TURNED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The names of a game's seats. @param {Table} of */
export function namesOf(of) {
  /** @type {Map<string, number>} */
  const met = new Map();
  return of.setup.levels.map((level, seat) => {
    if (seat === of.me) return t("you");
    const name = of.setup.people?.[seat] ?? of.saved.names?.[seat];
    if (name) return TURNED.test(name) ? `\u2068${name}\u2069` : name;
    const spec = LEVELS.includes(level) ? null : isTrained(level) ? t("trained") : level.split(":")[0], before = met.get(level) ?? 0;
    met.set(level, before + 1);
    return spec ? `${spec}${before ? ` ${before + 1}` : ""}` : peopleOf(level)[before];
  });
}

/** The title of a game's rules. @param {string} rules */
export const titleOf = (rules) => rules.split("_").map((word) => word[0].toUpperCase() + word.slice(1)).join(" ");

/** Show what is played, above the table and the study. @param {Table} of @param {number} hand */
export function showTitle({ setup, rules }, hand) {
  byId("title").textContent = titleOf(setup.rules);
  byId("game").textContent = `${t("hand", { number: hand + 1 })} · ${t("target", { target: Number(rules.target) })}`;
}

/** @type {number[]} */
let scoresBefore = [];

/** Let no peg move to these scores. @param {number[]} scores */
export function settleScores(scores) { scoresBefore = [...scores]; }

/** A row of the board for every side: name, score, and two pegs. @param {Table} of @param {number[]} scores @param {string[]} names */
export function scoreRows(of, scores, names) {
  const target = Number(of.rules.target), all = [...scores, ...scoresBefore];
  const low = Math.min(0, ...all), high = Math.max(target, ...all);
  const at = (/** @type {number} */ score) => `${(100 * (score - low)) / (high - low)}%`;
  const rows = scores.map((score, side) => {
    const row = document.createElement("div"), track = document.createElement("div");
    const seats = names.filter((_, seat) => seat % scores.length === side), behind = scoresBefore[side] ?? score;
    row.className = "score";
    row.innerHTML = `<i class="side-${side}"></i><span></span><b></b>`;
    /** @type {Element} */ (row.children[1]).textContent = seats.join(" · ");
    /** @type {Element} */ (row.children[2]).textContent = decimal(score);
    if (score > behind) row.children[2].classList.add("up");
    track.className = "track";
    const holes = Math.min(61, Math.max(10, Math.round((high - low) / Number(of.rules.unit))));
    track.style.setProperty("--holes", String(innerWidth < 600 ? Math.ceil(holes / 3) : holes));
    for (const [value, name] of /** @type {[number, string][]} */ ([[behind, "was"], [score, "is"]])) {
      const peg = document.createElement("em");
      peg.className = `${name} side-${side}`;
      peg.style.left = at(value);
      track.append(peg);
    }
    row.append(track);
    return row;
  });
  scoresBefore = [...scores];
  return rows;
}

/** A move with its chance to win, and the bounds of that if they are given. @param {string} move @param {number[]} chance @param {boolean} [made] */
export function valueRow(move, [mean, , high], made = false) {
  const row = document.createElement("div");
  row.className = `row${made ? " made" : ""}`;
  row.innerHTML = `<span></span><meter min="0" max="1" value="${Number(mean)}"></meter><span></span>`;
  row.dataset.move = move;
  row.children[0].textContent = moveText(move);
  row.children[1].setAttribute("aria-label", moveText(move));
  row.children[2].textContent = percent(mean) + (high === undefined ? "" : ` ± ${decimal(100 * (high - mean), 1)}`);
  return row;
}
