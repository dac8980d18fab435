// @ts-check
/** A hand of the day, solved, with other tiles than the deal of the day: every seat makes the move that a search finds best, and each is explained. */
import { showDialog } from "../dialogs.js";
import { Game, info } from "../fiveup.mjs";
import { USUAL } from "../levels.js";
import { reason } from "./reasons.js";
import { seatBox } from "../seats.js";
import { byId, element, peopleOf, sentenceOf } from "../shared.js";
import { happenings, told } from "../telling.js";
import { ask } from "../thinkers.js";
import { currentTongue, pointsText, scoresText, t } from "../words.js";
import { exercise, openLesson } from "./lessons.js";

const PLAYERS = 4, WORLDS = 300;

/** Show the hand, one play after the other. */
export function solved() {
  const day = new Date(), seed = BigInt(`${day.toLocaleDateString("sv").replaceAll("-", "")}0`), game = new Game({ rules: "five_up", players: PLAYERS, seed });
  const names = peopleOf(USUAL), board = exercise(() => {});
  const show = () => {
    const state = game.handNumber ? /** @type {import("../fiveup.mjs").Seen} */ (game.lastHand()) : game, masks = state.get("hands");
    board.show({ plays: state.plays.map(({ move }) => move), arms: [], spinners: "all", hand: [], choices: [], total: state.total });
    byId("lesson-others").replaceChildren(...names.slice(0, PLAYERS).map((name, seat) => {
      const tiles = info.tiles.filter((/** @type {string} */ _, /** @type {number} */ tile) => (masks[seat] >>> tile) & 1), box = seatBox({ side: seat % 2, name, size: tiles.length, tiles });
      box.classList.toggle("turn", state.turn === seat);
      return box;
    }));
  };
  /** Make the best move and explain it. */
  const step = async () => {
    next.disabled = true;
    const before = game.copy(), view = game.view(), found = await ask("worth", { view: view.bytes, worlds: WORLDS, key: BigInt(game.moves.length) });
    if (left) return;
    const [best, other] = found.map((/** @type {{ move: string }} */ { move }) => move);
    game.push(best);
    show();
    const [made, ...others] = [...[...game.steps()].slice(-1)].flatMap((one) => [...happenings(one, 0)]), over = game.handNumber > 0;
    const counts = board.counts(), sum = `${counts.join(" + ")}${counts.length > 1 ? ` = ${made.total}` : ""}`, score = made.points ? t("sumScores", { sum, points: pointsText(made.points) }) : t("sumNot", { sum });
    const sentences = [told(made, names, -1), score, other ? reason(before, best, other) : t("onlyMove"), ...others.map((what) => told(what, names, -1))];
    byId("lesson-text").replaceChildren(...sentences.map((sentence) => element("span", {}, `${sentence} `)));
    byId("lesson-facts").textContent = sides();
    if (over) byId("lesson-text").append(t("solvedEnd", { points: scoresText(game.lastHand()?.endPoints ?? []) }));
    next.textContent = t(over ? "close" : "next");
    close.hidden = over;
    next.disabled = false;
    next.focus({ preventScroll: true });
  };
  const sides = () => t("solvedScores", { one: `${names[0]} + ${names[2]}`, two: `${names[1]} + ${names[3]}`, scores: scoresText(game.scores) });
  const next = /** @type {HTMLButtonElement} */ (element("button", { class: "main" }, t("next"))), close = element("button", {}, t("close"));
  const dialog = openLesson(next, close);
  let left = false;
  dialog.addEventListener("close", () => { left = true; }, { once: true });
  next.addEventListener("click", () => {
    if (game.handNumber) dialog.close("");
    else step().catch((error) => void showDialog(t("solved"), [element("p", {}, sentenceOf(error))], [["", t("close")]]));
  });
  close.addEventListener("click", () => dialog.close(""));
  byId("lesson-title").textContent = t("solvedTitle", { date: day.toLocaleDateString(currentTongue(), { dateStyle: "long" }) });
  byId("lesson-text").textContent = t("solvedIntro");
  byId("lesson-facts").textContent = sides();
  show();
  next.focus({ preventScroll: true });
}
