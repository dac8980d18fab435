// @ts-check
/** The end of a hand as a card, and the deal of the day. */
import { showDialog } from "../dialogs.js";
import { info } from "../fiveup.mjs";
import { SOME, USUAL } from "../levels.js";
import { byId, element, peopleOf } from "../shared.js";
import { allGames } from "../store.js";
import { Table, begun, rulesOf } from "../table.js";
import { judge } from "../thinkers.js";
import { tileSvg } from "../tiles.js";
import { listText, t } from "../words.js";

/** @typedef {import("../store.js").Saved} Saved */

/** Show the end of a hand, or of the game; return what its player wants next. @param {Table} table @param {string[]} names */
export async function card(table, names) {
  const number = /** @type {number} */ (table.ended), state = table.game.hands()[number], { rules } = table;
  const masks = state.get("hands"), last = state.plays[state.plays.length - 1].seat;
  const went = last === table.me ? t("youWent") : t("domino", { who: names[last] });
  const how = state.ended === "domino" ? went : t(state.ended === "blocked" ? "blocked" : "reached");
  const multiple = Number(rules.multiple), each = rules.round_per === "hand";
  const points = state.endPoints, sides = points.length;
  let sum = 0; // of the pips for which somebody is paid
  const rows = names.flatMap((name, seat) => {
    const tiles = info.tiles.filter((/** @type {string} */ _, /** @type {number} */ tile) => (masks[seat] >>> tile) & 1);
    const pips = tiles.flatMap((/** @type {string} */ tile) => tile.split("-").map(Number)).reduce((/** @type {number} */ sum, /** @type {number} */ pip) => sum + pip, 0);
    if (points[seat % sides] <= 0) sum += pips;
    const fives = Math.floor((pips + Math.floor((multiple - 1) / 2)) / multiple);
    const held = element("span", { class: "tiles" });
    held.innerHTML = tiles.map(tileSvg).join("");
    held.append(element("span", {}, tiles.length ? t(each ? "rounded" : "pips", { pips, fives }) : t("nothingLeft")));
    return [element("b", {}, name), held];
  });
  const side = (/** @type {number} */ k) => names.filter((_, seat) => seat % sides === k).join(" · ");
  const settled = ["domino", "blocked"].includes(state.ended);
  const body = [
    element("p", {}, how), element("div", { class: "card-hand" }, ...rows),
    ...(settled ? [
      element("p", { class: "hint" }, t(each ? "roundHand" : "roundAll", { multiple, pips: sum })),
      element("p", {}, t("endPoints")), ...points.map((gain, k) => element("p", { class: "sum" }, `${side(k)}: ${gain > 0 ? "+" : ""}${gain} → ${state.scores[k]}`)),
    ] : []),
  ];
  if (table.saved.daily) return dailyCard(table, names, body);
  if (!table.isOver) return showDialog(t("handOver", { number: number + 1 }), body, [["next", t("nextHand")]]);
  const winner = Number(table.game.winner), mine = table.me >= 0 && winner === table.sideOf(table.me);
  const partner = names.find((_, seat) => seat !== table.seat && table.sideOf(seat) === winner) ?? "";
  const verdict = mine ? (table.rules.teams ? t("weWin", { partner }) : t("youWin")) : t(table.rules.teams ? "othersWin" : "otherWins", { who: listText(names.filter((_, seat) => table.sideOf(seat) === winner)) });
  return showDialog(`${t("gameOver")}. ${verdict}`, [element("p", { class: "sum" }, t("finalScore", { scores: table.game.scores.join(" : ") })), ...body],
    [["study", t("studyGame")], ["fresh", t("fresh")], ["again", t("again")], ["", t("close")]]);
}

// --- The deal of the day: its seed is the date, and the others are the same for everybody

const today = () => new Date().toISOString().slice(0, 10);

/** Return the game of the day to go on with, or null. @returns {Promise<Saved | null>} */
export async function daily() {
  const date = today(), played = allGames().find((saved) => saved.daily === date);
  const done = played && new Table(played).game.lastHand() !== null;
  const body = [element("p", {}, t("dailyIntro", { date })), ...(done ? [element("p", { class: "sum" }, t("played"))] : [])];
  const chosen = await showDialog(t("daily"), body, done ? [["", t("close")]] : [["play", t("deal")], ["", t("cancel")]]);
  if (chosen !== "play") return null;
  return played ?? begun({ rules: "five_up", players: 4, seat: 0, levels: Array(4).fill(USUAL) }, date.replaceAll("-", ""), { daily: date });
}

/** @param {Table} table @param {string[]} names @param {HTMLElement[]} body */
async function dailyCard(table, names, body) {
  const [own, other] = table.game.lastHand()?.scores ?? [0, 0], { setup, saved } = table;
  const rows = element("div", {}, element("p", {}, t("dailyAgents")));
  let best = "–";
  const asked = { rules: rulesOf(setup), seed: saved.seed, seat: setup.seat, levels: setup.levels };
  const strongest = SOME[SOME.length - 1];
  for (const level of SOME) {
    const line = rows.appendChild(element("p", {}, "…"));
    void judge("duplicate", { ...asked, level }).then(([mine, theirs]) => {
      line.textContent = t("compare", { who: peopleOf(level)[0], own: mine, other: theirs });
      if (level === strongest) best = `${mine} : ${theirs}`;
    });
  }
  const accept = async (/** @type {string} */ value) => {
    if (value !== "share") return true;
    await navigator.clipboard.writeText(t("shareLine", { date: String(saved.daily), own, other, who: peopleOf(strongest)[0], best }));
    byId("dialog-error").textContent = t("copied");
    return false;
  };
  await showDialog(t("daily"), [element("p", { class: "sum" }, t("dailyDone", { own, other })), ...body, rows], [["", t("close")], ["share", t("share")]], accept);
  return "fresh";
}
