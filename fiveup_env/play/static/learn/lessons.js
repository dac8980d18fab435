// @ts-check
/** Five lessons of a minute each, played with the real rules on deals made for them. */
import { Board } from "../board.js";
import { Game, info } from "../fiveup.mjs";
import { USUAL } from "../levels.js";
import { othersOf, seatBox } from "../seats.js";
import { byId, element, peopleOf } from "../shared.js";
import { happenings, moveText, shortly, worth } from "../telling.js";
import { t } from "../words.js";

/**
 * Own moves are wanted by name, or any that scores (`score`); the others answer with `then`.
 * @typedef {{ wanted: string, then?: string }} Task
 * @typedef {{ hands: string[][], drawn?: string[], lead: number, before: string[], tasks: Task[] }} Lesson one's own hand first
 */

/** @type {Lesson[]} */
const LESSONS = [
  { hands: [["6-5", "4-1"], ["6-4", "4-3"]], lead: 1, before: ["6-4"], tasks: [{ wanted: "6-5@6" }] },
  { hands: [["6-5", "5-3", "4-2"], ["5-4", "6-3", "2-1"]], lead: 1, before: ["5-4"], tasks: [{ wanted: "score" }] },
  { hands: [["5-5", "5-3", "2-0"], ["5-4", "5-1", "6-2"]], lead: 1, before: ["5-4"], tasks: [{ wanted: "5-5@5", then: "5-1@5x" }, { wanted: "5-3@5x" }] },
  {
    hands: [
      ["6-6", "6-1", "5-2", "4-1", "3-0", "2-1"], ["5-4", "4-4", "3-1", "2-2", "1-0", "1-1"],
      ["5-5", "5-0", "4-3", "3-2", "2-0", "0-0"], ["6-0", "6-2", "6-3", "6-4", "6-5", "4-0"],
    ],
    drawn: ["5-3", "5-1", "4-2", "3-3"], lead: 0, before: [], tasks: [{ wanted: "6-6" }],
  },
  { hands: [["5-5", "5-0"], ["6-5", "4-3"]], lead: 0, before: ["5-5", "6-5@5x"], tasks: [{ wanted: "5-0@5x" }] },
];

/** @param {Lesson} lesson */
function gameOf({ hands, drawn = [], lead, before }) {
  const used = new Set([...hands.flat(), ...drawn]);
  const boneyard = [...drawn, ...info.tiles.filter((/** @type {string} */ tile) => !used.has(tile))];
  const game = new Game({ rules: "five_up", players: hands.length, hand_size: hands[0].length, seed: 1, deals: [{ hands, boneyard, lead }] });
  for (const move of before) game.push(move);
  return game;
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

/** Open the dialog of lessons and exercises, which is left empty. @param {Element[]} buttons */
export function openLesson(...buttons) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("lesson"));
  byId("lesson-menu").replaceChildren(...buttons);
  dialog.addEventListener("close", () => {
    for (const id of ["lesson-facts", "lesson-others", "lesson-more"]) byId(id).replaceChildren();
  }, { once: true });
  dialog.returnValue = "";
  dialog.showModal();
  return dialog;
}

/** Show the others of a lesson: what each just did, and once the hand is over, its tiles and what they count. @param {Game} game */
function showOthers(game) {
  const names = peopleOf(USUAL), ended = game.handNumber ? /** @type {import("../fiveup.mjs").Seen} */ (game.lastHand()) : null, steps = [...game.steps()];
  /** @type {Map<number, string[]>} */
  const did = new Map();
  for (const what of steps.slice(-1).flatMap((step) => [...happenings(step, 0)])) did.set(what.seat, [...(did.get(what.seat) ?? []), shortly(what)]);
  byId("lesson-others").replaceChildren(...othersOf(game.rules.players, 0).map((seat, k) => {
    const tiles = ended ? info.tiles.filter((/** @type {string} */ _, /** @type {number} */ tile) => (ended.get("hands")[seat] >>> tile) & 1) : undefined;
    const pips = (tiles ?? []).join("-").split("-").reduce((/** @type {number} */ sum, /** @type {string} */ pip) => sum + Number(pip), 0);
    const does = tiles ? worth(pips, /** @type {any} */ (game.rules)) : (did.get(seat) ?? []).join(", ");
    return seatBox({ side: seat % game.scores.length, name: names[k], size: tiles?.length ?? game.sizes[seat], tiles, does });
  }));
}

/** Say why another move was wanted. @param {Task} task @param {{ move: string, total: number }} made */
function whyNot({ wanted }, { move, total }) {
  return wanted === "score" ? t("tryTotal", { move: moveText(move), total }) : t("tryTile", { move: moveText(move), total, wanted: moveText(wanted) });
}

/** Teach; return whether all was taught, and a game is wanted. @returns {Promise<boolean>} */
export function lessons() {
  let number = 0, task = 0;
  /** @type {Game} */
  let game;
  const say = () => { byId("lesson-text").textContent = t(`lesson${number + 1}${"abc"[task]}`); };
  const at = exercise((move) => {
    const { tasks } = LESSONS[number], made = /** @type {{ move: string, total: number, points: number }} */ (game.outcomes().find((one) => one.move === move));
    if (tasks[task].wanted === "score" ? !made.points : tasks[task].wanted !== move) {
      byId("lesson-text").textContent = `${whyNot(tasks[task], made)} ${t("tryIt")}`;
      return at.choose(null);
    }
    game.push(move);
    const { then } = tasks[task++];
    if (then) game.push(then);
    show();
    say();
    if (task < tasks.length) return at.focus();
    next.disabled = false;
    next.focus();
  });
  const show = () => {
    const state = game.handNumber ? /** @type {any} */ (game.lastHand()) : game, plays = state.plays.map((/** @type {any} */ play) => play.move), live = task < LESSONS[number].tasks.length;
    at.show({ plays, arms: [], spinners: "all", hand: live ? game.hand(0) : [], choices: live ? game.outcomes() : [], total: state.total });
    showOthers(game);
  };
  const begin = () => {
    game = gameOf(LESSONS[number]);
    task = 0;
    next.disabled = true;
    next.textContent = t(number < LESSONS.length - 1 ? "next" : "done");
    byId("lesson-title").textContent = t("lesson", { number: number + 1, count: LESSONS.length, name: t(`lesson${number + 1}`) });
    say();
    show();
  };
  const next = /** @type {HTMLButtonElement} */ (element("button", { class: "main" })), close = element("button", {}, t("close"));
  return new Promise((done) => {
    const dialog = openLesson(next, close);
    next.addEventListener("click", () => {
      if (++number === LESSONS.length) dialog.close("done");
      else begin();
    });
    close.addEventListener("click", () => dialog.close(""));
    dialog.addEventListener("close", () => done(dialog.returnValue === "done"), { once: true });
    begin();
  });
}
