// @ts-check
/** Five lessons of a minute each, played with the real rules on deals made for them. */
import { Board } from "./board.js";
import { Game, info } from "./fiveup.mjs";
import { byId, element } from "./shared.js";
import { t } from "./words.js";

/** @typedef {{ mine: string[], theirs: string[], drawn?: string[], before: string[], lead: number, wanted: (move: string, points: number) => boolean }} Lesson */

/** @type {Lesson[]} */
const LESSONS = [
  { mine: ["6-5", "4-1"], theirs: ["6-4", "3-0"], before: ["6-4"], lead: 1, wanted: (move) => move === "6-5@6" },
  { mine: ["6-5", "5-3", "4-2"], theirs: ["5-4", "3-0", "2-1"], before: ["5-4"], lead: 1, wanted: (_, points) => points > 0 },
  { mine: ["5-5", "3-1"], theirs: ["5-4", "6-2"], before: ["5-4"], lead: 1, wanted: (move) => move === "5-5@5" },
  { mine: ["6-6", "6-1", "2-1"], theirs: ["5-4", "3-2", "1-0"], drawn: ["4-0", "6-3"], before: [], lead: 0, wanted: (move) => move === "6-6" },
  { mine: ["5-0"], theirs: ["6-4"], before: [], lead: 0, wanted: () => true },
];

/** @param {Lesson} lesson */
function gameOf({ mine, theirs, drawn = [], lead }) {
  const used = new Set([...mine, ...theirs, ...drawn]);
  const boneyard = [...drawn, ...info.tiles.filter((/** @type {string} */ tile) => !used.has(tile))];
  return new Game({ rules: "five_up", players: 2, hand_size: mine.length, seed: 1, deals: [{ hands: [mine, theirs], boneyard, lead }] });
}

/** @type {Board | null} */
let board = null;
/** @type {(move: string) => void} */
let onMove = () => {};

/** Return the board of lessons and exercises, and say what its moves do. @param {(move: string) => void} made */
export function exercise(made) {
  onMove = made;
  return (board ??= new Board({ felt: byId("lesson-felt"), hand: byId("lesson-hand"), choices: byId("lesson-choices") }, (move) => onMove(move)));
}

/** Teach; return whether all was taught, and a game is wanted. @returns {Promise<boolean>} */
export function lessons() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("lesson"));
  let number = 0;
  /** @type {Game} */
  let game;
  const at = exercise((move) => {
    const choice = game.outcomes().find((one) => one.move === move);
    if (!LESSONS[number].wanted(move, choice?.points ?? 0)) {
      byId("lesson-text").textContent = `${t("tryIt")} ${t(`lesson${number + 1}a`)}`;
      return at.choose(null);
    }
    game.push(move);
    show(false);
    byId("lesson-text").textContent = t(`lesson${number + 1}b`);
    byId("lesson-menu").querySelector("button")?.removeAttribute("disabled");
    /** @type {HTMLElement | null} */ (byId("lesson-menu").querySelector("button"))?.focus();
  });
  const show = (/** @type {boolean} */ live) => {
    const state = game.handNumber ? /** @type {any} */ (game.lastHand()) : game, plays = state.plays.map((/** @type {any} */ play) => play.move);
    at.show({ plays, arms: [], spinners: "all", hand: live ? game.hand(0) : [], choices: live ? game.outcomes() : [], total: state.total });
  };
  const begin = () => {
    game = gameOf(LESSONS[number]);
    for (const move of LESSONS[number].before) game.push(move);
    byId("lesson-title").textContent = t("lesson", { number: number + 1, count: LESSONS.length, name: t(`lesson${number + 1}`) });
    byId("lesson-text").textContent = t(`lesson${number + 1}a`);
    show(true);
  };
  return new Promise((done) => {
    const next = element("button", { class: "main", disabled: "" }), close = element("button", {}, t("close"));
    const label = () => { next.textContent = t(number < LESSONS.length - 1 ? "next" : "done"); };
    next.addEventListener("click", () => {
      if (number === LESSONS.length - 1) return dialog.close("done");
      number++;
      next.setAttribute("disabled", "");
      label();
      begin();
    });
    close.addEventListener("click", () => dialog.close(""));
    byId("lesson-menu").replaceChildren(next, close);
    label();
    dialog.returnValue = "";
    dialog.addEventListener("close", () => done(dialog.returnValue === "done"), { once: true });
    dialog.showModal();
    begin();
  });
}
