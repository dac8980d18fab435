// @ts-check
/** A game looked through afterwards: every moment, and the verdicts as they are found. */
import { info, layout } from "../fiveup.mjs";
import { rateOf } from "../judging.js";
import { byId, element, scoreRows, sentenceOf, showTitle } from "../shared.js";
import { keep } from "../store.js";
import { ghostOf, playedOut } from "./better.js";
import { listMoves, markMistake, markMoment } from "./moves.js";
import { lineOf, optionRows, verdictText } from "./verdict.js";
import { begun } from "../table.js";
import { happenings, moveText, told } from "../telling.js";
import { judge, judgeCount } from "../thinkers.js";
import { feltSvg, tileSvg } from "../tiles.js";
import { decimal, signed, t } from "../words.js";

/** @typedef {import("../table.js").Table} Table */
/** @typedef {import("../fiveup.mjs").Seen} Seen */
/** @typedef {{ state: Seen, made: number, move: boolean, text: string }} Moment */
/** @typedef {import("./verdict.js").Decision} Decision */

const GRAPH_WORLDS = 200;

/** @type {{ table: Table, names: string[], moments: Moment[], at: number, decisions: Map<number, Decision>, chances: (number[] | null)[], luck: any[] | null, choices: number[], lines: Map<number, import("./verdict.js").Step[]>, ahead: { decision: Decision, plays: number } | null, seen?: Decision } | null} so many plays `ahead` of the game are shown; the verdict that is `seen` */
let open = null;
let opened = 0;
/** @type {(saved: import("../store.js").Saved | null) => void} */
let leave = () => {};

/** @param {Table} table @param {string[]} names @returns {Moment[]} */
function momentsOf(table, names) {
  const steps = [...table.game.steps()];
  /** @type {Moment[]} */
  const moments = [];
  for (const [made, step] of steps.entries()) {
    const hand = step.before.handNumber;
    if (hand !== moments[moments.length - 1]?.state.handNumber) moments.push({ state: step.before, made, move: false, text: t("dealt", { number: hand + 1 }) });
    const text = [...happenings(step, made)].map((what) => told(what, names, table.me)).join(" ");
    moments.push({ state: step.after, made: made + 1, move: true, text });
  }
  if (!moments.length) moments.push({ state: table.game.hands()[0], made: 0, move: false, text: t("dealt", { number: 1 }) });
  return moments;
}

/** Open a game; `left` is called with the game to go on with, or null. @param {Table} table @param {string[]} names @param {typeof leave} left */
export async function study(table, names, left) {
  const mine = ++opened, moments = momentsOf(table, names);
  leave = left;
  open = { table, names, moments, at: 0, decisions: new Map(), chances: moments.map(() => null), luck: null, choices: choiceCounts(table), lines: new Map(), ahead: null };
  byId("table").hidden = byId("actions").hidden = true;
  byId("studying").hidden = false;
  const seer = byId("seer");
  seer.replaceChildren(...names.map((name, seat) => element("option", { value: String(seat) }, name)));
  seer.value = String(table.seat);
  byId("progress").textContent = "";
  listMoves(byId("study-moves"), moments, show);
  paintVerdicts();
  show(0);
  byId("forward").focus();
  const kept = table.saved.verdicts;
  if (kept?.reference === info.judge.spec && kept.moments === moments.length) {
    for (const decision of kept.decisions) open.decisions.set(decision.number, decision);
    Object.assign(open, { chances: kept.chances, luck: kept.luck });
    return paintVerdicts();
  }
  try {
    await judgeAll(mine);
  } catch (error) {
    if (mine === opened) byId("progress").textContent = t("failed", { why: sentenceOf(error) });
  }
}

/** Judge everything, in as many tasks at once as there are workers. @param {number} mine */
async function judgeAll(mine) {
  const of = /** @type {NonNullable<typeof open>} */ (open), { game } = of.table, steps = [...game.steps()];
  const withChoice = [...steps.entries()].filter(([number]) => of.choices[number] > 1);
  const tasks = withChoice.map(([number, { before, move }]) => async () => {
    const found = await judge("decision", { state: before.bytes, move, number });
    of.decisions.set(number, { ...found, hand: before.handNumber });
  });
  for (const [k, { state }] of of.moments.entries()) {
    tasks.push(async () => { of.chances[k] = await judge("moment", { state: state.bytes, worlds: GRAPH_WORLDS }); });
  }
  tasks.push(async () => {
    const ended = game.hands().filter(({ phase }) => phase !== "playing").map(({ bytes, handNumber }) => {
      const dealt = /** @type {any} */ (steps.find(({ before }) => before.handNumber === handNumber)).before;
      return { dealt: dealt.bytes, ended: bytes };
    });
    const { players, teams, ...fields } = game.rules;
    of.luck = await judge("luck", { rules: { players, teams: Boolean(teams), ...fields }, hands: ended });
  });
  let next = 0;
  const work = async () => {
    while (next < tasks.length && mine === opened) {
      await tasks[next++]();
      if (mine !== opened) return;
      byId("progress").textContent = t("judging", { done: of.decisions.size, all: withChoice.length });
      paintVerdicts();
    }
  };
  await Promise.all(Array.from({ length: 2 * judgeCount }, work));
  if (mine !== opened) return;
  const { saved } = of.table, decisions = [...of.decisions.values()].sort((one, two) => one.number - two.number);
  saved.verdicts = { reference: info.judge.spec, moments: of.moments.length, decisions, chances: of.chances, luck: of.luck, rates: of.names.map((_, seat) => rateOf(decisions, seat)) };
  saved.rate = rateOf(decisions, of.table.seat).chance[0] ?? undefined;
  keep(saved);
  byId("progress").textContent = decisions.some(({ mistake }) => mistake) ? "" : t("noMistake");
}

/** Count the legal moves before every move. @param {Table} table */
function choiceCounts({ game }) {
  const twin = game.copy(), counts = [];
  while (twin.moves.length) {
    twin.pop();
    counts.unshift(twin.legalMoves().length);
  }
  return counts;
}

// --- Painting

/** @param {number} at */
function show(at) {
  if (!open) return;
  const { moments, table, names } = open;
  open.at = Math.max(0, Math.min(moments.length - 1, at));
  open.ahead = null;
  const { state, text } = moments[open.at], { players } = table.rules, hand = state.handNumber;
  showTitle(table, hand);
  paintFelt();
  byId("study-scores").replaceChildren(...scoreRows(table, state.scores, names));
  byId("study-said").textContent = text;
  byId("study-said").title = text;
  markMoment(byId("study-moves"), open.at);
  const masks = state.get("hands"), sides = state.scores.length;
  byId("racks").replaceChildren(...Array.from({ length: players }, (_, seat) => {
    const rack = element("div", { class: state.turn === seat ? "turn" : "" });
    rack.innerHTML = `<i class="side-${seat % sides}"></i><b></b>${tilesIn(masks[seat]).map(tileSvg).join("")}`;
    rack.children[1].textContent = names[seat];
    return rack;
  }));
  paintVerdict();
  paintGraph();
}

/** Paint the felt of the moment: with the better move beside the one that was made, or with what could follow it. */
function paintFelt() {
  if (!open) return;
  const { table, ahead, at, moments, lines } = open, { state, text } = moments[at], hand = state.handNumber, felt = byId("study-layout");
  const across = felt.clientWidth / Math.max(1, felt.clientHeight), arms = table.arms[hand] ?? [], decision = decisionNow();
  const size = { spinners: String(table.rules.spinners), width: across > 1.7 ? 46 : across > 1 ? 32 : 22 };
  const picture = { columns: 20, rows: Math.round(20 / across), title: text, fresh: false, rise: "", lit: new Map() };
  if (ahead) {
    const before = moments[at - 1].state.plays.map(({ move }) => move), from = before.length;
    const could = (lines.get(ahead.decision.number) ?? []).map(({ move }) => move).filter((move) => move.includes("-")), plays = [...before, ...could.slice(0, ahead.plays)];
    felt.innerHTML = feltSvg(layout(plays, { ...size, arms: arms.slice(0, from) }), plays.length, { ...picture, from });
    return;
  }
  const whole = table.game.hands()[hand].plays.map(({ move }) => move), shown = state.plays.length;
  const placed = shown ? layout(whole, { ...size, shown, arms }) : null, isBetter = decision && decision.move !== decision.best && [decision.move, decision.best].every((move) => move.includes("-"));
  const marks = isBetter && shown > 1 ? layout(whole, { ...size, shown: shown - 1, arms }).marks : [];
  const ghost = placed && isBetter ? ghostOf(decision.best, marks, placed.tiles.slice(0, shown).map(({ box }) => box)) : null;
  felt.innerHTML = feltSvg(placed, shown, { ...picture, ghost });
}

/** @param {number} mask */
function tilesIn(mask) {
  const tiles = [];
  for (let high = 0, k = 0; high < 7; high++) for (let low = 0; low <= high; low++, k++) if ((mask >>> k) & 1) tiles.push(`${high}-${low}`);
  return tiles;
}

const decisionNow = () => {
  const moment = open?.moments[open.at];
  return moment?.move ? open?.decisions.get(moment.made - 1) : undefined;
};

/** @param {number} number of a move @returns {Seen | null} */
const stateBefore = (number) => [...(open?.table.game.steps() ?? [])][number]?.before ?? null;

function paintVerdict() {
  if (!open) return;
  const { at, moments, names, table, choices, lines } = open, { made, move } = moments[at], decision = decisionNow(), said = byId("verdict-said"), box = byId("verdict");
  open.seen = decision;
  if (!decision) {
    said.replaceChildren(element("p", { class: "hint" }, t(move && choices[made - 1] > 1 ? "notYet" : "noChoice")));
    return box.replaceChildren();
  }
  const before = /** @type {Seen} */ (stateBefore(decision.number)), { game } = table, isBest = decision.move === decision.best;
  said.replaceChildren(...verdictText(decision, before));
  if (!isBest && !lines.has(decision.number)) lines.set(decision.number, playedOut(game, decision.number, decision.best));
  const go = (/** @type {number} */ plays, /** @type {string} */ text) => {
    if (open) open.ahead = { decision, plays };
    byId("study-said").textContent = text;
    paintFelt();
  };
  box.replaceChildren(
    element("h2", {}, t(decision.seat === table.me ? "youDecide" : "decides", { who: names[decision.seat] })), ...optionRows(decision),
    ...(isBest ? [] : [lineOf(/** @type {import("./verdict.js").Step[]} */ (lines.get(decision.number)), { names, me: table.me, ended: game.hands()[decision.hand], go })]));
}

function paintVerdicts() {
  if (!open) return;
  const { names, table } = open, decisions = [...open.decisions.values()];
  if (decisionNow() !== open.seen) {
    paintFelt();
    paintVerdict();
  }
  paintGraph();
  for (const [k, { made, move }] of open.moments.entries()) {
    const decision = move ? open.decisions.get(made - 1) : undefined;
    if (decision?.mistake) markMistake(byId("study-moves"), k, t("better", { best: moveText(decision.best) }));
  }
  const rates = names.map((_, seat) => rateOf(decisions, seat));
  byId("rates").replaceChildren(figures(t("rateHead").split("|"), rates.map((rate) => [
    names[rate.seat], t("of", { some: rate.mistakes, all: rate.decisions }),
    rate.chance[0] === null ? "–" : decimal(100 * rate.chance[0], 2), rate.points[0] === null ? "–" : decimal(rate.points[0], 2),
  ])));
  byId("luck-whose").textContent = t("luck");
  if (!open.luck) return byId("luck").replaceChildren();
  const side = Number(byId("seer").value) % table.sides, points = (/** @type {number} */ value) => signed(100 * value, 1);
  const sum = (/** @type {"luck" | "skill"} */ what) => /** @type {any[]} */ (open?.luck).reduce((all, hand) => all + hand[what][side], 0);
  const whose = names.filter((_, seat) => seat % table.sides === side).join(" · ");
  byId("luck-whose").textContent = `${t("luck")}: ${whose}`;
  byId("luck").replaceChildren(figures(t("luckHead").split("|"), [
    [t("inAll"), points(sum("luck")), points(sum("skill"))],
    ...open.luck.map((hand) => [t("handShort", { number: hand.hand + 1 }), points(hand.luck[side]), points(hand.skill[side])]),
  ]));
}

/** @param {string[]} heads @param {string[][]} rows */
function figures(heads, rows) {
  const cells = (/** @type {string[]} */ row, /** @type {string} */ tag) => element("tr", {}, ...row.map((cell) => element(cell ? tag : "td", {}, cell)));
  return element("table", { class: "figures" }, element("thead", {}, cells(heads, "th")), element("tbody", {}, ...rows.map((row) => cells(row, "td"))));
}

const WIDTH = 420, HEIGHT = 150, LEFT = 34, EDGE = 8;
const x = (/** @type {number} */ k) => LEFT + (WIDTH - LEFT - EDGE) * k / Math.max(1, (open?.moments.length ?? 1) - 1);
const y = (/** @type {number} */ chance) => EDGE + (HEIGHT - 2 * EDGE) * (1 - chance);

function paintGraph() {
  if (!open) return;
  const seat = Number(byId("seer").value), { chances, at, moments } = open;
  const known = chances.flatMap((chance, k) => (chance ? [[k, chance[seat]]] : []));
  const lines = [0, 0.5, 1].map((chance) => `<line class="even" x1="${LEFT}" x2="${WIDTH - EDGE}" y1="${y(chance)}" y2="${y(chance)}"/><text x="${LEFT - 4}" y="${y(chance) + 4}" text-anchor="end">${100 * chance}</text>`);
  const curve = known.length ? `<path class="curve" d="M${known.map(([k, chance]) => `${x(k).toFixed(1)} ${y(chance).toFixed(1)}`).join("L")}"/>` : "";
  const dots = moments.flatMap(({ made, move }, k) => (move && open?.decisions.get(made - 1)?.mistake ? [`<circle class="mistake" cx="${x(k)}" cy="${y(chances[k]?.[seat] ?? 0.5)}" r="4"/>`] : []));
  byId("graph").innerHTML = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${t("chance")}">${lines.join("")}${curve}${dots.join("")}<line class="here" x1="${x(at)}" x2="${x(at)}" y1="${EDGE}" y2="${HEIGHT - EDGE}"/></svg>`;
}

// --- Going through it

/** The moments of mistakes, of one's own seat first if the seer is one. */
function mistakesNow() {
  if (!open) return [];
  const seat = Number(byId("seer").value), { decisions, moments } = open;
  return moments.flatMap(({ made, move }, k) => {
    const decision = move ? decisions.get(made - 1) : undefined;
    return decision?.mistake && decision.seat === seat ? [{ k, lost: decision.chance[0] }] : [];
  });
}

/** @type {Record<string, () => void>} */
const ACTIONS = {
  first: () => show(0), back: () => show((open?.at ?? 0) - 1), forward: () => show((open?.at ?? 0) + 1), last: () => show(Infinity),
  "next-mistake": () => {
    const all = mistakesNow(), next = all.find(({ k }) => k > (open?.at ?? 0)) ?? all[0];
    if (next) show(next.k);
  },
  biggest: () => {
    const all = mistakesNow().sort((one, two) => two.lost - one.lost);
    if (all.length) show(all[0].k);
  },
  leave: () => close(null),
  retry: () => {
    if (!open) return;
    const { table, moments, at } = open, { saved } = table, { made, move } = moments[at];
    const number = move ? made - 1 : made, seat = moments[Math.max(0, at - 1)].state.turn ?? saved.setup.seat;
    const again = begun({ ...saved.setup, seat, people: undefined }, saved.seed, { deals: saved.deals });
    again.moves = saved.moves.slice(0, number);
    again.arms = structuredClone(saved.arms);
    close(again);
  },
};

/** @param {import("../store.js").Saved | null} saved */
function close(saved) {
  opened++;
  open = null;
  leave(saved);
}

for (const id in ACTIONS) document.getElementById(id)?.addEventListener("click", ACTIONS[id]);
document.getElementById("seer")?.addEventListener("change", () => paintVerdicts());
document.getElementById("graph")?.addEventListener("pointerdown", (event) => {
  if (!open) return;
  const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
  show(Math.round(((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - EDGE) * (open.moments.length - 1)));
});
const KEYS = { Home: "first", ArrowLeft: "back", ArrowRight: "forward", End: "last", m: "next-mistake", b: "biggest", Escape: "leave" };
document.addEventListener("keydown", (event) => {
  const name = KEYS[/** @type {keyof typeof KEYS} */ (event.key)], target = /** @type {HTMLElement} */ (event.target);
  if (!open || !name || event.ctrlKey || event.altKey || event.metaKey || target.tagName === "SELECT" || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  ACTIONS[name]();
});
addEventListener("resize", () => open && show(open.at));
