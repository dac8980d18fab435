// @ts-check
/** Challenges: a link with the moves of who sends it, and how two games with the same tiles compare. */
import { copy, field, showDialog } from "../dialogs.js";
import { Refused } from "../errors.js";
import { Game } from "../fiveup.mjs";
import { element, sentenceOf } from "../shared.js";
import { isResult, remember, remembered } from "../store.js";
import { rulesOf } from "../table.js";
import { moveText } from "../telling.js";
import { judge } from "../thinkers.js";
import { decimal, scoresText, t } from "../words.js";
import { linkTo } from "./links.js";

/** @typedef {import("../store.js").Saved} Saved */
/** @typedef {import("../table.js").Table} Table */

export const LONGEST_NAME = 24;

// --- The moves as text: a digit, or two where there are many, for each that was a choice

/** @param {number} choices */
const width = (choices) => (choices < 2 ? 0 : choices <= 36 ? 1 : 2);

/** @param {Game} game */
export function codeOf(game) {
  const twin = game.copy(), digits = [];
  while (twin.moves.length) {
    const move = twin.pop(), legal = twin.legalMoves(), places = width(legal.length);
    if (places) digits.unshift(legal.indexOf(move).toString(36).padStart(places, "0"));
  }
  return digits.join("");
}

/** Return the moves of a whole game that a text tells; refuse a text that tells none. @param {Saved} saved the deal @param {string} code */
export function movesIn({ setup, seed }, code) {
  const game = new Game({ ...rulesOf(setup), seed: BigInt(seed) });
  let at = 0;
  while (!game.isGameOver()) {
    const legal = game.legalMoves(), places = width(legal.length), digits = code.slice(at, at += places), move = legal[places ? parseInt(digits, 36) : 0];
    if (digits.length < places || !/^[0-9a-z]*$/.test(digits) || !move) throw new Refused(t("badChallenge"));
    game.push(move);
  }
  if (at !== code.length) throw new Refused(t("badChallenge"));
  return game.moves;
}

/** @param {Saved} saved a game with a challenge */
function theirGame({ setup, seed, challenge }) {
  const game = new Game({ ...rulesOf(setup), seed: BigInt(seed) });
  for (const move of challenge?.moves ?? []) game.push(move);
  return game;
}

/** What whoever opens the link is told first. @param {Saved} saved */
export const greeting = (saved) => t("challenged", { by: saved.challenge?.by ?? "", scores: scoresText(theirGame(saved).scores) });

/** Whether a game can be sent as a challenge: one's own result, from the first move to the last, at seat 0, where a link sits its reader down. @param {Saved} saved */
export const canChallenge = (saved) => isResult(saved) && !saved.given && !saved.deals?.length && saved.setup.seat === 0;

/** Ask for a name, and give the link. @param {Saved} saved @param {Game} game */
export async function challenge(saved, game) {
  const name = /** @type {HTMLInputElement} */ (element("input", { type: "text", id: "own-name", maxlength: String(LONGEST_NAME), autocomplete: "nickname" }));
  name.value = remembered("name", "");
  await showDialog(t("challenge"), [element("p", {}, t("challengeIntro")), field(t("yourName"), name)], [["copy", t("copyChallenge")], ["", t("close")]], async (value) => {
    if (value !== "copy") return true;
    if (!name.value.trim()) name.focus();
    else {
      remember("name", name.value.trim());
      await copy(linkTo(saved, { by: name.value.trim(), made: codeOf(game) }));
    }
    return false;
  });
}

// --- How two games compare

/** What a hand brought each side. @param {number[][]} ends @param {number} hand */
const gains = (ends, hand) => (ends[hand] ?? []).map((score, side) => score - (ends[hand - 1]?.[side] ?? 0));

/** The choices of a seat by the position in which it had them. @param {Game} game @param {number} seat */
function choicesOf(game, seat) {
  const own = [...game.steps()].filter(({ before }) => before.turn === seat);
  return new Map(own.map(({ before, move }) => [JSON.stringify([before.handNumber, before.public("lead"), before.get("hands"), before.plays]), { before, move }]));
}

/** The positions that both met, and where they chose otherwise. @param {Game} game @param {Game} other @param {number} seat */
export function differences(game, other, seat) {
  const theirs = choicesOf(other, seat);
  return [...choicesOf(game, seat)].flatMap(([position, { before, move }]) => {
    const their = theirs.get(position)?.move;
    return their && their !== move ? [{ before, move, their }] : [];
  });
}

/** How one's game compares with the challenger's. @param {Table} table */
export function comparison(table) {
  const by = table.saved.challenge?.by ?? "", other = theirGame(table.saved), different = differences(table.game, other, table.seat);
  const [mine, theirs] = [table.game, other].map((game) => game.hands().filter(({ phase }) => phase !== "playing").map(({ scores }) => scores));
  const row = (/** @type {string[]} */ [first, ...cells]) => element("tr", {}, element("th", { scope: "row" }, first), ...cells.map((cell) => element("td", {}, cell)));
  const hands = Array.from({ length: Math.max(mine.length, theirs.length) }, (_, k) => row([t("handShort", { number: k + 1 }), ...[mine, theirs].map((ends) => scoresText(gains(ends, k)) || "–")]));
  const total = row([t("inAll"), ...[mine, theirs].map((ends) => scoresText(ends[ends.length - 1]))]);
  const head = element("tr", {}, element("td"), ...[t("you"), by].map((name) => element("th", { scope: "col" }, name)));
  const costs = different.map(({ before, move, their }) => {
    const says = (/** @type {string} */ cost) => `${t("differs", { hand: before.handNumber + 1, move: moveText(move), by, their: moveText(their) })}${cost}`, line = element("li", {}, says("…"));
    judge("decision", { state: before.bytes, move, number: 0 }).then(({ options }) => {
      const [own, others] = [move, their].map((one) => options.find((/** @type {any} */ option) => option.move === one).chance[0]), lost = 100 * (others - own);
      line.textContent = says(t(lost > 0 ? "differsCost" : "differsGain", { points: decimal(Math.abs(lost), 1) }));
    }).catch((error) => { line.textContent = says(`: ${sentenceOf(error)}`); });
    return line;
  });
  const count = t(different.length === 0 ? "differedNone" : different.length === 1 ? "differedOne" : "differed", { count: different.length, by });
  return [
    element("p", { class: "sum" }, t("against", { by })), element("table", { class: "figures" }, element("thead", {}, head), element("tbody", {}, ...hands, total)),
    element("p", {}, count), ...(costs.length ? [element("ul", { class: "rivals" }, ...costs)] : []), element("p", { class: "hint" }, t("theirWord", { by })),
  ];
}
