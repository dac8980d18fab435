// @ts-check
/** What a verdict says: a sentence and its reason at the board, then every option, and how the hand could go on. */
import { reason } from "../learn/reasons.js";
import { element, valueRow } from "../shared.js";
import { happenings, moveText, told } from "../telling.js";
import { decimal, scoresText, t } from "../words.js";

/** @typedef {import("../fiveup.mjs").Seen} Seen */
/** @typedef {{ before: Seen, move: string, after: Seen }} Step */
/** @typedef {{ number: number, hand: number, seat: number, move: string, best: string, chance: number[], points: number[], mistake: boolean, options: { move: string, chance: number[], points: number[] }[] }} Decision */

/** Say what a decision cost, and why it was best or worse. @param {Decision} decision @param {Seen} before @returns {Element[]} */
export function verdictText({ move, best, chance, points, mistake, options }, before) {
  const isBest = move === best, texts = { move: moveText(move), best: moveText(best), chance: decimal(100 * Math.max(0, chance[0]), 1) };
  const score = points[0] > 0 ? t("lostScore", { points: decimal(points[0], 2) }) : "";
  const sentence = isBest ? t("isBest", texts) : t(mistake ? "lostChance" : "asGood", { ...texts, score });
  return [
    element("p", { class: isBest ? "fine" : mistake ? "lost" : "" }, sentence),
    ...(isBest || mistake ? [element("p", {}, reason(before, best, isBest ? options.filter((option) => option.move !== best)[0].move : move))] : []),
  ];
}

/** Every option with its chance to win. @param {Decision} decision */
export function optionRows({ move, options }) {
  return [
    element("div", { class: "bars" }, ...options.map((option) => valueRow(option.move, option.chance, option.move === move))),
    element("p", { class: "hint" }, t("about95")),
  ];
}

/**
 * How the hand could go on after the better move, each play a way to its picture.
 * @param {Step[]} steps @param {{ names: string[], me: number, ended: Seen, go: (plays: number, text: string) => void }} options `ended`: the hand as it ended in the game
 */
export function lineOf(steps, { names, me, ended, go }) {
  let plays = 0;
  /** @type {HTMLElement[]} */
  const lines = steps.map((step) => {
    if (step.move.includes("-")) plays++;
    const at = plays, text = [...happenings(step, 0)].map((what) => told(what, names, me)).join(" "), button = element("button", {}, text), line = element("li", {}, button);
    button.addEventListener("click", () => {
      for (const other of lines) other.classList.toggle("here", other === line);
      go(at, text);
    });
    return line;
  });
  const { after } = steps[steps.length - 1];
  return element("details", {}, element("summary", {}, t("couldGoOn")), element("ol", { class: "log" }, ...lines),
    element("p", { class: "hint" }, t("couldEnd", { scores: scoresText(after.scores), really: scoresText(ended.scores) })));
}
