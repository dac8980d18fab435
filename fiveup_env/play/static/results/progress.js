// @ts-check
/** One's progress: a rating, the levels one by one, error rates, puzzles and mistakes. */
import { showDialog } from "../dialogs.js";
import { mistakeCounts } from "../learn/exercises.js";
import { LEVELS } from "../levels.js";
import { GRADES, puzzleCounts } from "../learn/puzzles.js";
import { element, peopleOf } from "../shared.js";
import { allGames, isResult } from "../store.js";
import { THEMES } from "../learn/themes.js";
import { decimal, t } from "../words.js";
import { LEADS, byLevel, eloOf, ratingOf, strengthOf } from "./rating.js";

/** @typedef {import("./rating.js").Measured} Measured */

const nameOf = (/** @type {string} */ level) => peopleOf(level)[0];
const paragraph = (/** @type {string} */ text, kind = "") => element("p", kind ? { class: kind } : {}, text);

/** @param {string[]} heads @param {string[][]} rows */
function figures(heads, rows) {
  const cell = (/** @type {string} */ text, /** @type {number} */ k) => element(k ? "td" : "th", k ? {} : { scope: "row" }, text);
  const head = element("tr", {}, ...heads.map((text) => element(text ? "th" : "td", {}, text)));
  return element("table", { class: "figures" }, element("thead", {}, head), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))));
}

/** @param {import("../store.js").Saved[]} games */
function ratings(games) {
  const whole = (/** @type {number} */ value) => decimal(Math.round(value)), kinds = /** @type {Measured[]} */ (Object.keys(LEADS));
  const rows = kinds.flatMap((kind) => {
    const rating = ratingOf(games, kind), elo = eloOf(kind);
    if (!rating) return [];
    const below = elo.filter((one) => one <= rating.mean).length, near = LEVELS.slice(Math.max(0, below - 1), below + 1).map(nameOf);
    return [[`${t(`rated_${kind}`)} (${rating.games})`, t("ratingRange", { rating: whole(rating.mean), low: whole(rating.low), high: whole(rating.high) }), near.join(" – ")]];
  });
  if (!rows.length) return [paragraph(t("noRating"))];
  return [figures(t("ratingHead").split("|"), rows), paragraph(t("ratingAbout", { first: nameOf(LEVELS[0]), last: nameOf(LEVELS[LEVELS.length - 1]), elo: whole(eloOf("partners")[LEVELS.length - 1]) }), "hint")];
}

/** @param {import("../store.js").Saved[]} games */
function ladder(games) {
  const all = byLevel(games), met = all.filter(({ won, lost }) => won + lost), beaten = all.filter(({ won }) => won), last = beaten[beaten.length - 1];
  const next = LEVELS[last ? LEVELS.indexOf(last.level) + 1 : 0];
  const sentence = !next ? t("allBeaten") : last ? t("beaten", { last: nameOf(last.level), next: nameOf(next) }) : t("noneBeaten", { next: nameOf(next) });
  return [paragraph(sentence, "sum"), ...(met.length ? [figures(t("levelHead").split("|"), met.map(({ level, won, lost }) => [`${LEVELS.indexOf(level) + 1}. ${nameOf(level)}${won ? " ✓" : ""}`, String(won), String(lost)]))] : [])];
}

/** The error rates of one's games over time. @param {import("../store.js").Saved[]} games */
function errors(games) {
  const rates = games.flatMap(({ rate }) => (rate === undefined ? [] : [100 * rate])).reverse(), mean = (/** @type {number[]} */ some) => some.reduce((sum, rate) => sum + rate, 0) / some.length;
  if (!rates.length) return [paragraph(t("noRates"))];
  const high = Math.max(...rates, 0.1), x = (/** @type {number} */ k) => 40 + 252 * k / Math.max(1, rates.length - 1), y = (/** @type {number} */ rate) => 62 - 52 * rate / high;
  const chart = element("div", { class: "chart" }), label = t("errorRate", { rate: rates.map((rate) => decimal(rate, 2)).join("; ") });
  const lines = [0, high].map((rate) => `<line x1="40" x2="292" y1="${y(rate)}" y2="${y(rate)}"/><text x="36" y="${y(rate) + 4}">${decimal(rate, 1)}</text>`);
  chart.innerHTML = `<svg viewBox="0 0 300 70" role="img" aria-label="${label}">${lines.join("")}<path d="M${rates.map((rate, k) => `${x(k).toFixed(1)} ${y(rate).toFixed(1)}`).join("L")}"/>${rates.map((rate, k) => `<circle cx="${x(k)}" cy="${y(rate)}" r="2.5"/>`).join("")}</svg>`;
  const recent = rates.length > 10 ? [paragraph(t("meanRecent", { mean: decimal(mean(rates.slice(-10)), 2) }))] : [];
  return [paragraph(`${t("mean")}: ${decimal(mean(rates), 2)} %`), ...recent, chart];
}

function puzzleFigures() {
  const { tries, run, longest } = puzzleCounts(), counted = (/** @type {string} */ key) => tries[key] ?? [0, 0];
  const results = Array.from({ length: GRADES }, (_, k) => k + 1).flatMap((grade) => {
    const [right, all] = counted(String(grade));
    return Array.from({ length: all }, (_, n) => ({ own: 1, against: grade, won: n < right }));
  });
  if (!results.length) return [paragraph(t("noTries"))];
  const { mean, low, high } = strengthOf(results, 0, GRADES + 1, 1), row = (/** @type {string} */ name, /** @type {string} */ key) => (counted(key)[1] ? [[name, t("of", { some: counted(key)[0], all: counted(key)[1] })]] : []);
  const grades = Array.from({ length: GRADES }, (_, k) => row("★".repeat(k + 1), String(k + 1))).flat(), themes = THEMES.flatMap((theme) => row(t(`theme_${theme}`), theme));
  return [
    paragraph(t("puzzleRating", { rating: decimal(mean, 1), low: decimal(low, 1), high: decimal(high, 1) }), "sum"), figures(t("triesHead").split("|"), [...grades, ...themes]),
    paragraph(t("puzzleRun", { run, longest })), paragraph(t("puzzleRatingAbout"), "hint"),
  ];
}

/** Show one's progress. */
export async function progress() {
  const games = allGames().filter((saved) => isResult(saved) && !saved.helped), { all, due } = mistakeCounts();
  const part = (/** @type {string} */ title, /** @type {Element[]} */ ...body) => [element("h3", {}, t(title)), ...body];
  await showDialog(t("progress"), [
    ...part("rating", ...ratings(games)), ...part("levels", ...ladder(games)), ...part("rates", ...errors(games)), ...part("puzzles", ...puzzleFigures()),
    ...part("mistakes", paragraph(all ? t("mistakesLeft", { due, solved: all - due }) : t("noMistakes"))), paragraph(t("progressAbout"), "hint"),
  ], [["", t("close")]]);
}
