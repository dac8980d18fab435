// @ts-check
/** The deal of the day: three hands, the same for everybody, whose seed is the date. */
import { copy, showDialog } from "../dialogs.js";
import { SOME, USUAL } from "../levels.js";
import { element, peopleOf, sentenceOf } from "../shared.js";
import { allGames, put } from "../store.js";
import { DAILY_HANDS, Table, begun, rulesOf } from "../table.js";
import { judge } from "../thinkers.js";
import { currentTongue, t } from "../words.js";

/** @typedef {import("../store.js").Saved} Saved */
/** @typedef {number[][]} Course the scores of both sides after each hand */

/** A day as `2026-11-27`, by the calendar of whoever plays. @param {Date} day */
export const dateOf = (day) => day.toLocaleDateString("sv");
export const today = () => dateOf(new Date());
/** @param {string} date @param {number} days */
function later(date, days) {
  const day = new Date(`${date}T12:00`);
  day.setDate(day.getDate() + days);
  return dateOf(day);
}
/** @param {string} date */
const longDate = (date) => new Date(`${date}T12:00`).toLocaleDateString(currentTongue(), { dateStyle: "long" });

/** @param {Saved} saved */
const isDone = (saved) => new Table(saved).ends.length >= DAILY_HANDS;
const played = () => new Map(allGames().filter(({ daily }) => daily).map((saved) => [String(saved.daily), saved]));

/** How many days in a row were played on the day itself, up to today or yesterday. @param {Map<string, Saved>} days */
export function streakOf(days) {
  const counts = (/** @type {string} */ date) => Boolean(days.get(date)?.result && !days.get(date)?.late);
  let date = counts(today()) ? today() : later(today(), -1), streak = 0;
  for (; counts(date); date = later(date, -1)) streak++;
  return streak;
}

// --- How one's course compares with those of the levels

/** @param {number[]} scores */
const edge = ([own, other]) => own - other;
/** By how much each hand was won. @param {Course} course */
const margins = (course) => course.map((scores, hand) => edge(scores) - (hand ? edge(course[hand - 1]) : 0));

/** @type {Record<string, [string, string]>} a class of the style sheet, and a square where nothing else can be drawn */
const SQUARES = { "+": ["more", "🟩"], "=": ["same", "🟨"], "-": ["less", "⬛"] };

/** How many levels made less, and for each hand whether one made more than the middle one of them, as much, or less. @param {Course} course @param {Course[]} others */
export function rankOf(course, others) {
  const last = (/** @type {Course} */ one) => edge(one[one.length - 1]);
  const squares = margins(course).map((own, hand) => {
    const all = others.map((one) => margins(one)[hand] ?? 0).sort((one, two) => one - two), middle = all[Math.floor(all.length / 2)];
    return own > middle ? "+" : own === middle ? "=" : "-";
  });
  return { better: others.filter((one) => last(one) < last(course)).length, squares };
}

/** What each level made of the same tiles in one's seat. @param {Saved} saved @returns {Promise<Course>[]} */
function rivals(saved) {
  const { setup, seed } = saved, asked = { rules: rulesOf(setup), seed, seat: setup.seat, levels: setup.levels, hands: DAILY_HANDS };
  return SOME.map(async (level) => saved.rivals?.[level] ?? judge("duplicate", { ...asked, level }));
}

/**
 * Show a result; return what is wanted next.
 * @param {Saved} saved @param {Element[]} before what stands above it
 */
export async function showResult(saved, before = []) {
  const table = new Table(saved), course = table.ends, date = String(saved.daily), [own, other] = course[course.length - 1], days = played(), streak = streakOf(days);
  const rank = element("p", { class: "sum", role: "status" }, "…"), squares = element("p", { class: "squares" }), rows = element("ul", { class: "rivals" });
  let line = "";
  const asked = rivals(saved).map(async (rival, k) => {
    const row = rows.appendChild(element("li", {}, `${peopleOf(SOME[k])[0]}: …`)), ends = await rival, [mine, theirs] = ends[ends.length - 1];
    row.textContent = t("compare", { who: peopleOf(SOME[k])[0], own: mine, other: theirs });
    return ends;
  });
  void Promise.all(asked).then((others) => {
    const found = rankOf(course, others), text = t("rank", { better: found.better, all: others.length });
    if (!saved.rivals) put(Object.assign(saved, { rivals: Object.fromEntries(SOME.map((level, k) => [level, others[k]])) }));
    rank.textContent = text;
    squares.replaceChildren(...found.squares.map((square) => element("b", { class: SQUARES[square][0] }, square.replace("-", "−"))));
    line = `Five Up ${date} ${found.squares.map((square) => SQUARES[square][1]).join("")} ${text} ${location.origin}${location.pathname}#daily=${date}`;
  }).catch((error) => { rank.textContent = sentenceOf(error); });
  const body = [
    element("p", { class: "sum" }, t("dailyDone", { own, other, date: longDate(date) })), rank, squares, element("p", { class: "hint" }, t("squares")),
    ...(streak ? [element("p", {}, t(streak === 1 ? "streakOne" : "streak", { streak }))] : []), element("p", {}, t("dailyAgents")), rows, ...before,
  ];
  const accept = async (/** @type {string} */ value) => {
    if (value === "share" && line) await copy(line);
    return value !== "share";
  };
  return showDialog(t("daily"), body, [["", t("close")], ["share", t("share")], ["days", t("days")], ["study", t("study")]], accept);
}

// --- The days

/** Show a month of days; return the day that is chosen, or "". @param {string} month such as `2026-11` @returns {Promise<string>} */
async function calendar(month) {
  const days = played(), first = new Date(`${month}-01T12:00`), count = new Date(first.getFullYear(), first.getMonth() + 1, 0).getDate();
  const grid = element("div", { class: "days" });
  for (let k = 0; k < 7; k++) grid.append(element("span", { "aria-hidden": "true" }, new Date(2024, 0, 1 + k).toLocaleDateString(currentTongue(), { weekday: "narrow" })));
  for (let k = 0; k < (first.getDay() + 6) % 7; k++) grid.append(element("span"));
  for (let k = 1; k <= count; k++) {
    const date = `${month}-${String(k).padStart(2, "0")}`, saved = days.get(date), state = !saved ? "open" : saved.result ? "over" : "running";
    const others = Object.values(saved?.rivals ?? {}), rank = saved?.result && others.length ? rankOf(new Table(saved).ends, others) : null;
    const label = `${longDate(date)}: ${rank ? t("rank", { better: rank.better, all: others.length }) : t(state === "open" ? "notPlayed" : state === "over" ? "over" : "running")}`;
    const button = element("button", { type: "button", value: date, class: state, "aria-label": label, title: label }, element("b", {}, String(k)), element("small", {}, rank ? `${rank.better}/${others.length}` : state === "open" ? "" : "…"));
    if (date > today()) button.setAttribute("disabled", "");
    button.addEventListener("click", () => /** @type {HTMLDialogElement} */ (button.closest("dialog")).close(date));
    grid.append(button);
  }
  const name = first.toLocaleDateString(currentTongue(), { month: "long", year: "numeric" }), next = later(`${month}-${count}`, 1).slice(0, 7);
  const buttons = /** @type {[string, string][]} */ ([["", t("close")], [later(`${month}-01`, -1).slice(0, 7), t("monthBefore")], ...(next <= today().slice(0, 7) ? [[next, t("monthAfter")]] : [])]);
  return showDialog(`${t("days")}: ${name}`, [element("p", {}, t("daysIntro")), grid], buttons);
}

/** Go through the days; return the game to go on with, or null. @param {string} [date] a day, or a month of days @returns {Promise<Saved | null>} */
export async function daily(date = today()) {
  for (let wanted = date; wanted;) {
    if (wanted.length === 7) {
      wanted = await calendar(wanted);
      continue;
    }
    const saved = played().get(wanted), isRunning = saved && !saved.result, month = wanted.slice(0, 7);
    if (saved && isDone(saved)) {
      const next = await showResult(saved);
      if (next === "study") return saved;
      wanted = next === "days" ? month : "";
      continue;
    }
    const body = [element("p", {}, saved?.given ? t("dailyGiven") : t("dailyIntro", { date: longDate(wanted) }))];
    const buttons = /** @type {[string, string][]} */ (saved?.given ? [["", t("close")], ["days", t("days")]] : [["play", t(isRunning ? "goOn" : "deal")], ["days", t("days")], ["", t("cancel")]]);
    const chosen = await showDialog(t("daily"), body, buttons), setup = { rules: "five_up", players: 4, seat: 0, levels: Array(4).fill(USUAL) };
    if (chosen === "play") return saved ?? begun(setup, wanted.replaceAll("-", ""), { daily: wanted, ...(wanted === today() ? {} : { late: true }) });
    wanted = chosen === "days" ? month : "";
  }
  return null;
}
