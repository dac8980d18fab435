// @ts-check
/** The end of a hand, or of a game, as a card. */
import { showDialog } from "../dialogs.js";
import { info } from "../fiveup.mjs";
import { element } from "../shared.js";
import { tileSvg } from "../tiles.js";
import { worth } from "../telling.js";
import { listText, pipsText, scoresText, signed, t } from "../words.js";
import { proofLines } from "../proving.js";
import { canChallenge, comparison } from "./challenge.js";
import { showResult } from "./daily.js";

/** @typedef {import("../table.js").Table} Table */

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
    const held = element("span", { class: "tiles" });
    held.innerHTML = tiles.map(tileSvg).join("");
    held.append(element("span", {}, !tiles.length ? t("nothingLeft") : each ? worth(pips, /** @type {any} */ (rules)) : pipsText(pips)));
    return [element("b", {}, name), held];
  });
  const side = (/** @type {number} */ k) => names.filter((_, seat) => seat % sides === k).join(" · ");
  const settled = ["domino", "blocked"].includes(state.ended);
  const body = [
    element("p", {}, how), element("div", { class: "card-hand" }, ...rows),
    ...(settled ? [
      element("p", { class: "hint" }, t(each ? "roundHand" : "roundAll", { multiple, pips: sum })),
      element("p", {}, t("endPoints")), ...points.map((gain, k) => element("p", { class: "sum" }, t("endGain", { side: side(k), gain: signed(gain), score: state.scores[k] }))),
    ] : []),
  ];
  if (!table.isOver) return showDialog(t("handOver", { number: number + 1 }), body, [["next", t("nextHand")]]);
  if (table.saved.daily) return showResult(table.saved, body);
  const winner = Number(table.game.winner), mine = table.me >= 0 && winner === table.sideOf(table.me);
  const partner = names.find((_, seat) => seat !== table.seat && table.sideOf(seat) === winner) ?? "";
  const verdict = mine ? (table.rules.teams ? t("weWin", { partner }) : t("youWin")) : t(table.rules.teams ? "othersWin" : "otherWins", { who: listText(names.filter((_, seat) => table.sideOf(seat) === winner)) });
  return showDialog(`${t("gameOver")}. ${verdict}`, [element("p", { class: "sum" }, t("finalScore", { scores: scoresText(table.game.scores) })), ...proofLines(table), ...(table.saved.challenge ? comparison(table) : []), ...body],
    [["study", t("studyGame")], ["fresh", t("fresh")], ["again", t(table.hash ? "dealAnother" : "again")], ...(canChallenge(table.saved) ? /** @type {[string, string][]} */ ([["challenge", t("challenge")]]) : []), ["", t("close")]]);
}
