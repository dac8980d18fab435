// @ts-check
/** A game looked through afterwards: every moment, and the verdicts as they are found. */
import { info, layout } from "./fiveup.mjs";
import { rateOf } from "./judging.js";
import { reason } from "./reasons.js";
import { byId, element, scoreRows, sentenceOf, showTitle, valueRow } from "./shared.js";
import { keep } from "./store.js";
import { listMoves, markMistake, markMoment } from "./study/moves.js";
import { begun } from "./table.js";
import { happenings, moveText, told } from "./telling.js";
import { judge, judgeCount } from "./thinkers.js";
import { feltSvg, tileSvg } from "./tiles.js";
import { decimal, percent, t } from "./words.js";

/** @typedef {import("./table.js").Table} Table */
/** @typedef {import("./fiveup.mjs").Seen} Seen */
/** @typedef {{ state: Seen, made: number, move: boolean, text: string }} Moment */
/** @typedef {{ number: number, hand: number, seat: number, move: string, best: string, chance: number[], points: number[], mistake: boolean, gains: [number, number], options: { move: string, chance: number[], points: number[] }[] }} Decision */

const GRAPH_WORLDS = 200;

/** @type {{ table: Table, names: string[], moments: Moment[], at: number, decisions: Map<number, Decision>, chances: (number[] | null)[], luck: any[] | null, choices?: number[] } | null} */
let open = null;
let opened = 0;
/** @type {(saved: import("./store.js").Saved | null) => void} */
let leave = () => {};

/** @param {Table} table @param {string[]} names @returns {Moment[]} */
function momentsOf(table, names) {
  const steps = [...table.game.steps()];
  /** @type {Moment[]} */
  const moments = [];
  for (const [made, step] of steps.entries()) {
    const hand = step.before.handNumber;
    if (hand !== moments[moments.length - 1]?.state.handNumber) moments.push({ state: step.before, made, move: false, text: t("dealt", { number: hand + 1 }) });
    const text = [...happenings(step, made)].map((what) => told(what, names, table.seat)).join(" ");
    moments.push({ state: step.after, made: made + 1, move: true, text });
  }
  if (!moments.length) moments.push({ state: table.game.hands()[0], made: 0, move: false, text: t("dealt", { number: 1 }) });
  return moments;
}

/** Open a game; `left` is called with the game to go on with, or null. @param {Table} table @param {string[]} names @param {typeof leave} left */
export async function study(table, names, left) {
  const mine = ++opened, moments = momentsOf(table, names);
  leave = left;
  open = { table, names, moments, at: 0, decisions: new Map(), chances: moments.map(() => null), luck: null };
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
  /** @type {(() => Promise<void>)[]} */
  const tasks = [];
  for (const [number, { before, move }] of steps.entries()) {
    tasks.push(async () => {
      const found = await judge("decision", { state: before.bytes, move, number });
      const gains = [move, found.best].map((one) => gainOf(steps, number, one, of));
      of.decisions.set(number, { ...found, hand: before.handNumber, gains });
    });
  }
  const withChoice = [...steps.keys()].filter((number) => choicesAt(of, number) > 1);
  const chosen = withChoice.map((number) => tasks[number]);
  for (const [k, { state }] of of.moments.entries()) {
    chosen.push(async () => { of.chances[k] = await judge("moment", { state: state.bytes, worlds: GRAPH_WORLDS }); });
  }
  chosen.push(async () => {
    const ended = game.hands().filter(({ phase }) => phase !== "playing").map(({ bytes, handNumber }) => {
      const dealt = /** @type {any} */ (steps.find(({ before }) => before.handNumber === handNumber)).before;
      return { dealt: dealt.bytes, ended: bytes };
    });
    const { players, teams, ...fields } = game.rules;
    of.luck = await judge("luck", { rules: { players, teams: Boolean(teams), ...fields }, hands: ended });
  });
  let done = 0, next = 0;
  const work = async () => {
    while (next < chosen.length && mine === opened) {
      await chosen[next++]();
      done++;
      if (mine !== opened) return;
      byId("progress").textContent = t("judging", { done, all: chosen.length });
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

/** @param {NonNullable<typeof open>} of @param {number} number */
function choicesAt(of, number) {
  return of.choices?.[number] ?? (of.choices = choiceCounts(of.table))[number];
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

/** What a move would score at once. @param {any[]} steps @param {number} number @param {string} move @param {NonNullable<typeof open>} of */
function gainOf(steps, number, move, of) {
  const twin = of.table.game.copy();
  while (twin.moves.length > number) twin.pop();
  return twin.outcomes().find((one) => one.move === move)?.points ?? 0;
}

// --- Painting

/** @param {number} at */
function show(at) {
  if (!open) return;
  const { moments, table, names } = open;
  open.at = Math.max(0, Math.min(moments.length - 1, at));
  const { state, text } = moments[open.at], { players, spinners } = table.rules, hand = state.handNumber;
  const whole = table.game.hands()[hand].plays.map(({ move }) => move), shown = state.plays.length;
  showTitle(table, hand);
  const felt = byId("study-layout"), across = felt.clientWidth / Math.max(1, felt.clientHeight);
  const placed = shown ? layout(whole, { spinners: String(spinners), width: across > 1.7 ? 46 : across > 1 ? 32 : 22, shown, arms: table.arms[hand] ?? [] }) : null;
  felt.innerHTML = feltSvg(placed, shown, { columns: 20, rows: Math.round(20 / across), title: text, fresh: false, rise: "", lit: new Map() });
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
  const decision = decisionNow(), box = byId("verdict");
  if (!open || !decision) return box.replaceChildren(element("p", { class: "hint" }, t("noChoice")));
  const best = decision.move === decision.best, lost = Math.max(0, decision.chance[0]);
  const sentence = best ? t("isBest", { move: moveText(decision.move) })
    : t("lostChance", { move: moveText(decision.move), percent: percent(lost), points: decimal(decision.points[0], 2), best: moveText(decision.best) });
  const before = best ? null : stateBefore(decision.number), why = before ? reason(before, decision.move, decision.best, decision.gains) : "";
  box.replaceChildren(
    element("h2", {}, t(decision.seat === open.table.me ? "youDecide" : "decides", { who: open.names[decision.seat] })),
    element("p", { class: best ? "fine" : decision.mistake ? "lost" : "" }, sentence), ...(why ? [element("p", {}, why)] : []),
    element("div", { class: "bars" }, ...decision.options.map(({ move, chance }) => valueRow(move, chance, move === decision.move))),
    element("p", { class: "hint" }, t("about95")));
}

function paintVerdicts() {
  if (!open) return;
  const { names, table } = open, decisions = [...open.decisions.values()];
  paintVerdict();
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
  if (!open.luck) return byId("luck").replaceChildren();
  const side = Number(byId("seer").value) % table.sides, signed = (/** @type {number} */ value) => `${value < 0 ? "−" : "+"}${decimal(Math.abs(100 * value), 1)}`;
  const sum = (/** @type {"luck" | "skill"} */ what) => /** @type {any[]} */ (open?.luck).reduce((all, hand) => all + hand[what][side], 0);
  byId("luck").replaceChildren(figures(t("luckHead").split("|"), [
    [t("inAll"), signed(sum("luck")), signed(sum("skill"))],
    ...open.luck.map((hand) => [t("handShort", { number: hand.hand + 1 }), signed(hand.luck[side]), signed(hand.skill[side])]),
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

/** @param {import("./store.js").Saved | null} saved */
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
