// @ts-check
/** Puzzles: positions with one best move, in grades; what was solved is remembered. */
import { field, select, showDialog } from "../dialogs.js";
import { Refused } from "../errors.js";
import { practise } from "./exercises.js";
import { Game, info, scramble } from "../fiveup.mjs";
import { USUAL } from "../levels.js";
import { reason } from "./reasons.js";
import { byId, element, sentenceOf, valueRow } from "../shared.js";
import { remember, remembered } from "../store.js";
import { Table, begun, freshSeed } from "../table.js";
import { moveText } from "../telling.js";
import { THEMES, themesOf } from "./themes.js";
import { decimal, t } from "../words.js";

/** @typedef {{ seed: number, rules: string, players: number, moves: string, best: number, chances: number[], grade: number, proven?: boolean }} Puzzle as the laboratory's agents/puzzles writes it */
/** @typedef {{ salt: string, last: number, run: number, longest: number, solved: number[], tried?: number[], tries?: Record<string, [number, number]> }} Progress the salt shuffles; `last` is the puzzle shown last; `tries`: by grade and theme, how many of those in `tried` were solved at the first try */

const KEPT = "puzzles";
export const GRADES = 5;
/** @type {Progress} */
let progress = { salt: freshSeed(), last: -1, run: 0, longest: 0, solved: [] };

/** What was solved so far, in any tab. */
function solvedSoFar() {
  try {
    const kept = JSON.parse(remembered(KEPT, "null"));
    const fine = /^\d{1,20}$/.test(kept.salt) && [kept.last, kept.run, kept.longest, ...kept.solved, ...(kept.tried ?? []), ...Object.values(kept.tries ?? {}).flat()].every(Number.isSafeInteger);
    if (fine) progress = kept;
  } catch { /* nothing was kept, or nothing that can be read */ }
  return progress;
}

/** @param {Partial<Progress>} change */
function note(change) {
  progress = { ...solvedSoFar(), ...change };
  remember(KEPT, JSON.stringify(progress));
}

/** How many were tried, and in a row. */
export const puzzleCounts = () => ({ tries: {}, ...solvedSoFar() });

/** @param {number} seed @param {boolean} right @param {string[]} kinds its grade and its themes */
function noteTry(seed, right, kinds) {
  const { longest, solved, run: before, tried = solved, tries = {} } = solvedSoFar(), run = right ? before + 1 : 0;
  if (!tried.includes(seed)) for (const kind of kinds) tries[kind] = [(tries[kind]?.[0] ?? 0) + Number(right), (tries[kind]?.[1] ?? 0) + 1];
  note({ tries, tried: [...new Set([...tried, seed])], run, longest: Math.max(longest, run), solved: right ? [...new Set([...solved, seed])] : solved });
}

/** How many of some puzzles were solved. @param {Puzzle[]} some */
function solvedOf(some) {
  const solved = new Set(solvedSoFar().solved);
  return some.filter(({ seed }) => solved.has(seed)).length;
}

/** @type {Puzzle[] | null} */
let all = null;

/** @returns {Promise<Puzzle[]>} */
export async function load() {
  if (all) return all;
  const answer = await fetch("puzzles.json").catch(() => null);
  if (!answer?.ok) throw new Refused(t("notFetched", { name: "puzzles.json" }));
  const file = await answer.json();
  if (file.format !== "fiveup-puzzles" || file.version !== 1) throw new Refused(`puzzles.json: ${file.format} ${file.version}`);
  return (all = /** @type {Puzzle[]} */ (file.puzzles));
}

/** The next puzzle: the first after the last one that was not solved, in this browser's order. @param {Puzzle[]} some @param {string} [theme] of the puzzle, where any has it */
function nextOf(some, theme) {
  const { salt, last, solved } = solvedSoFar(), done = new Set(solved), unsolved = some.filter(({ seed }) => !done.has(seed));
  const rank = (/** @type {number} */ seed) => scramble(BigInt.asUintN(64, BigInt(seed) ^ BigInt(salt)));
  const order = (unsolved.length ? unsolved : some).map((puzzle) => ({ puzzle, at: rank(puzzle.seed) })).sort((one, two) => (one.at < two.at ? -1 : 1));
  const after = last < 0 ? -1n : rank(last);
  const turned = [...order.filter(({ at }) => at > after), ...order.filter(({ at }) => at <= after)].map(({ puzzle }) => puzzle);
  return (theme && turned.find((puzzle) => themesOf(tableOf(puzzle).game, info.moves[puzzle.best]).includes(theme))) || turned[0];
}

/** The table of a puzzle: a digit of its moves stands for each that was a choice. @param {Puzzle} puzzle */
export function tableOf({ seed, rules, players, moves }) {
  const game = new Game({ rules, players, seed });
  for (let made = 0; ;) {
    const legal = game.legalMoves();
    if (legal.length > 1 && made === moves.length) break;
    game.push(legal[legal.length === 1 ? 0 : parseInt(moves[made++], 36)]);
  }
  const setup = { rules, players, seat: Number(game.turn), levels: Array(players).fill(USUAL) };
  return new Table({ ...begun(setup, String(seed)), moves: game.moves });
}

const stars = (/** @type {number} */ grade) => "★".repeat(grade) + "☆".repeat(GRADES - grade);

/** @param {Puzzle} puzzle @param {Puzzle[]} some of which it is one */
function exerciseOf(puzzle, some) {
  const { seed, grade, chances, proven } = puzzle, table = tableOf(puzzle), { game } = table, outcomes = game.outcomes();
  const best = info.moves[puzzle.best], themes = themesOf(game, best), options = outcomes.map(({ move }, k) => ({ move, chance: chances[k] / 1000 })).sort((one, two) => two.chance - one.chance);
  note({ last: seed });
  history.replaceState(null, "", `#puzzle=${seed}`);
  const tried = (/** @type {string} */ move) => {
    const right = move === best, lost = options[0].chance - Number(options.find((one) => one.move === move)?.chance);
    noteTry(seed, right, [String(grade), ...themes]);
    const verdict = right ? t("found", { move: moveText(move) }) : t("puzzleWrong", { move: moveText(move), chance: decimal(100 * lost, 1), best: moveText(best) });
    const said = `${verdict} ${reason(game, best, right ? options.filter((one) => one.move !== best)[0].move : move)}`;
    const bars = element("div", { class: "bars" }, ...options.map((one) => valueRow(one.move, [one.chance], one.move === move)));
    return { said: proven ? `${said} ${t("puzzleProven")}` : said, isOver: true, more: [bars, element("p", {}, themes.length ? t("themes", { themes: themes.map((theme) => t(`theme_${theme}`)).join(", ") }) : ""), element("p", { class: "hint" }, t("puzzleAbout"))] };
  };
  const title = () => `${t("puzzles")} ${stars(grade)} · ${t("puzzleCounts", { done: solvedOf(some), all: some.length, run: solvedSoFar().run })}`;
  return { title, text: t("puzzleTask"), table, best, tried };
}

/** Ask for a grade, and practise; or begin with the puzzle that a link names. @param {string} [link] */
export async function puzzles(link = "") {
  try {
    const every = await load(), linked = every.find(({ seed }) => String(seed) === link);
    if (link && !linked) throw new Refused(t("noPuzzle", { number: link }));
    const { some, theme } = linked ? { some: every, theme: "" } : await chosen(every);
    let first = linked;
    if (!some.length) return;
    practise(() => {
      const puzzle = first ?? nextOf(some, theme);
      first = undefined;
      return exerciseOf(puzzle, some);
    });
    byId("lesson").addEventListener("close", () => history.replaceState(null, "", location.pathname), { once: true });
  } catch (error) {
    void showDialog(t("puzzles"), [element("p", {}, sentenceOf(error))], [["", t("close")]]);
  }
}

/** Return the puzzles of the grade that is chosen, none if the dialog is left, and the theme. @param {Puzzle[]} every */
async function chosen(every) {
  const { run, longest } = solvedSoFar();
  const button = (/** @type {number} */ grade, /** @type {string} */ name, /** @type {string} */ label) => {
    const some = of(grade), count = t("of", { some: solvedOf(some), all: some.length });
    const made = element("button", { type: "button", value: String(grade), "aria-label": `${label}: ${count}` }, `${name} · ${count}`);
    made.addEventListener("click", () => byId("dialog").close(String(grade)));
    return made;
  };
  const of = (/** @type {number} */ grade) => every.filter((puzzle) => !grade || puzzle.grade === grade);
  const theme = select("theme", [["", t("anyTheme")], ...THEMES.map((one) => /** @type {[string, string]} */ ([one, t(`theme_${one}`)]))], "");
  const grades = Array.from({ length: GRADES }, (_, k) => button(k + 1, stars(k + 1), t("puzzleGrade", { grade: k + 1 })));
  const body = [
    element("p", {}, t("puzzleIntro")), field(t("theme"), theme), element("div", { class: "list" }, button(0, t("puzzleAny"), t("puzzleAny")), ...grades),
    element("p", { class: "hint" }, t("puzzleRun", { run, longest })),
  ];
  const grade = await showDialog(t("puzzles"), body, [["", t("close")]]);
  return { some: grade ? of(Number(grade)) : [], theme: theme.value };
}
