// @ts-check
/** Dialogs of the table: a new game, the menu, one's games, the end of a hand, the deal of the day. */
import { byId, namesOf, peopleOf, titleOf } from "./app.js";
import { info } from "./fiveup.mjs";
import { LEVELS, USUAL, asLevel, specIn } from "./levels.js";
import { checkSpec, offer } from "./server.js";
import { isOn, setSound } from "./sound.js";
import { allGames, forget, kept, remember, remembered } from "./store.js";
import { Table, begun, freshSeed, rulesOf } from "./table.js";
import { judge } from "./thinkers.js";
import { tileSvg } from "./tiles.js";
import { TONGUES, currentTongue, listText, t } from "./words.js";

/** @typedef {import("./store.js").Saved} Saved */
/** @typedef {import("./store.js").Setup} Setup */

/**
 * Return an element with attributes and children.
 * @param {string} tag @param {Record<string, string>} [attributes] @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** @param {string} html */
function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/**
 * Show a dialog, and return the value of the button that closed it; "" for Escape.
 * @param {string} title @param {(Node | string)[]} body @param {[string, string][]} buttons value and sentence; the first is the main one
 * @param {(value: string) => Promise<boolean> | boolean} [accept] whether a button may close it
 * @returns {Promise<string>}
 */
export function showDialog(title, body, buttons, accept = () => true) {
  const dialog = byId("dialog");
  if (dialog.open) dialog.close("");
  byId("dialog-title").textContent = title;
  byId("dialog-body").replaceChildren(...body);
  byId("dialog-error").textContent = "";
  byId("dialog-menu").replaceChildren(...buttons.map(([value, name], k) => {
    const button = element("button", { value, class: k ? "" : "main" }, name);
    button.addEventListener("click", async (event) => {
      event.preventDefault();
      if (await accept(value)) dialog.close(value);
    });
    return button;
  }));
  return new Promise((done) => {
    dialog.returnValue = "";
    dialog.addEventListener("close", () => done(dialog.returnValue), { once: true });
    dialog.showModal();
    byId("dialog-menu").querySelector("button")?.focus();
  });
}

export const confirmAgain = async () => (await showDialog(t("again"), [element("p", {}, t("confirmLeave"))], [["yes", t("yes")], ["", t("cancel")]])) === "yes";
export const confirmStudy = async () => (await showDialog(t("study"), [element("p", {}, t("confirmStudy"))], [["yes", t("yesStudy")], ["", t("cancel")]])) === "yes";
/** @param {string} reason */
export const whyDialog = (reason) => void showDialog(t("whyScore"), [element("p", {}, reason)], [["", t("close")]]);

/** Return the name of the action that was chosen. */
export function menu() {
  const names = ["undo", "again", "study", "learn", "daily", "mistakes", "games", "load", "side"];
  const sentences = { side: `${t("moves")}, ${t("eyes")}`, load: t("load") };
  const list = element("div", { class: "list" }, ...names.map((name) => {
    const button = element("button", { value: name }, sentences[/** @type {"side"} */ (name)] ?? t(name));
    button.addEventListener("click", () => byId("dialog").close(name));
    return button;
  }));
  const soon = element("button", { disabled: "", title: t("puzzlesSoon") }, t("puzzles"));
  const sound = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox", id: "sound" }));
  sound.checked = isOn();
  sound.addEventListener("change", () => setSound(sound.checked));
  const pace = select("pace-choice", [["1.6", t("slow")], ["1", t("normal")], ["0.4", t("fast")], ["0", t("atOnce")]], remembered("pace", "1"));
  pace.addEventListener("change", () => remember("pace", pace.value));
  const tongue = select("tongue", Object.entries(TONGUES).map(([name, words]) => [name, words.language]), currentTongue());
  tongue.addEventListener("change", () => byId("dialog").close(`speak:${tongue.value}`));
  list.insertBefore(soon, list.children[6]);
  const settings = [
    field(t("sound"), sound), field(t("pace"), pace), field(t("tongue"), tongue), element("p", { class: "hint" }, t("about")),
  ];
  return showDialog(t("menu"), [list, ...settings], [["", t("close")]]);
}

/** @param {string} id @param {[string, string][]} options @param {string} chosen */
function select(id, options, chosen) {
  const made = /** @type {HTMLSelectElement} */ (element("select", { id, name: id }, ...options.map(([value, name]) => element("option", { value }, name))));
  made.value = chosen;
  return made;
}

/** @param {string} name @param {Element} input @param {string} [hint] */
function field(name, input, hint) {
  const label = element("label", { for: input.id }, name);
  return element("div", { class: "field" }, label, input, ...(hint === undefined ? [] : [element("p", { class: "hint", id: `${input.id}-hint` }, hint)]));
}

/** Return the game that somebody begins, or null. @param {Setup} usual @returns {Promise<Saved | null>} */
export async function newGame(usual) {
  const presets = Object.keys(info.presets).filter((name) => !name.startsWith("mini"));
  const rules = select("rules", presets.map((name) => [name, titleOf(name)]), presets.includes(usual.rules) ? usual.rules : "five_up");
  const ruleHint = element("p", { class: "hint" });
  const players = select("players", ["2", "3", "4", "5"].map((count) => [count, count]), String(usual.players));
  const sides = select("sides", [["partners", t("partners")], ["alone", t("alone")]], usual.teams === false ? "alone" : "partners");
  const target = /** @type {HTMLInputElement} */ (element("input", { type: "number", id: "target", min: "1", max: "1000000", list: "targets" }));
  const levels = /** @type {[string, string][]} */ (LEVELS.map((level) => [level, t(`level_${level}`)]));
  const known = (/** @type {string | undefined} */ level) => (level && LEVELS.includes(level) ? level : USUAL);
  const partner = select("level-partner", levels, known(usual.levels[(usual.seat + 2) % usual.players]));
  const others = select("level-others", levels, known(usual.levels[(usual.seat + 1) % usual.players]));
  const seed = element("input", { type: "text", id: "seed", inputmode: "numeric", autocomplete: "off" });
  const specs = element("input", { type: "text", id: "specs", autocomplete: "off", spellcheck: "false" });
  const advanced = element("details", {}, element("summary", {}, t("advanced")), field(t("seedLabel"), seed), ...(offer ? [field(t("specs"), specs)] : []));
  const sidesField = field(t("sides"), sides), partnerField = field(t("levelPartner"), partner);
  const targetOf = () => {
    const preset = info.presets[rules.value][Number(players.value) - 2];
    return new DataView(Uint8Array.from(preset.match(/../g), (/** @type {string} */ byte) => parseInt(byte, 16)).buffer).getInt32(info.structs.rules.fields.target.offset, true);
  };
  const settle = () => {
    ruleHint.textContent = t(`rule_${rules.value}`);
    sidesField.hidden = players.value !== "4";
    partnerField.hidden = players.value !== "4" || sides.value === "alone";
    target.value = String(targetOf());
  };
  for (const input of [rules, players, sides]) input.addEventListener("change", settle);
  settle();
  if (usual.target) target.value = String(usual.target);
  const targets = element("datalist", { id: "targets" }, element("option", { value: "21" }), element("option", { value: "61" }));
  /** @type {Saved | null} */
  let made = null;
  const body = [
    field(t("rules"), rules), ruleHint, field(t("players"), players), sidesField, field(`${t("playTo")} (${t("ownTarget")})`, target), targets,
    partnerField, field(t("levelOthers"), others), advanced,
  ];
  await showDialog(t("fresh"), body, [["deal", t("deal")], ["", t("cancel")]], async (value) => {
    if (value !== "deal") return true;
    try {
      const count = Number(players.value), alone = count !== 4 || sides.value === "alone";
      const given = /** @type {HTMLInputElement} */ (specs).value.trim();
      const asked = given ? split(given, count - 1) : null;
      for (const spec of asked ?? []) await checkSpec(spec);
      const chosen = Array.from({ length: count }, (_, seat) => (asked ? asLevel(asked[Math.max(0, seat - 1)]) : !alone && seat === 2 ? partner.value : others.value));
      const setup = { rules: rules.value, players: count, seat: 0, levels: chosen, ...(count === 4 && alone ? { teams: false } : {}), ...(Number(target.value) === targetOf() ? {} : { target: Number(target.value) }) };
      const number = /** @type {HTMLInputElement} */ (seed).value.trim();
      if (number && !/^\d{1,20}$/.test(number)) throw new Error(`${t("seedLabel")}: 0 – 2**64 − 1`);
      made = begun(setup, number || freshSeed());
      new Table(made);
      return true;
    } catch (error) {
      made = null;
      byId("dialog-error").textContent = String(error instanceof Error ? error.message : error);
      return false;
    }
  });
  return made;
}

/** One spec for all, or one for each; commas inside a spec belong to its options. @param {string} text @param {number} count */
function split(text, count) {
  const specs = text.split(/,(?=[^=,]*(?:,|$|:))/).map((spec) => spec.trim());
  if (specs.length !== 1 && specs.length !== count) throw new Error(`${t("specs")}: ${count}`);
  return specs.length === 1 ? Array(count).fill(specs[0]) : specs;
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "application/json" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(/** @type {HTMLAnchorElement} */ (link).href), 1000);
}

/** @param {Saved} saved */
function fileOf(saved) {
  const table = new Table(saved);
  return JSON.stringify(table.file(namesOf(table)));
}

/** A link to the deal of a game. @param {Saved} saved */
function linkTo({ setup, seed }) {
  const { rules, players, teams, target, levels } = setup;
  const asked = new URLSearchParams({ rules, players: String(players), levels: levels.join(","), seed, ...(teams === false ? { alone: "" } : {}), ...(target ? { target: String(target) } : {}) });
  return `${location.origin}${location.pathname}?${asked}`;
}

/** Show one's games; return the one to open, or null. @returns {Promise<Saved | null>} */
export async function gamesList() {
  const games = allGames().filter(({ moves }) => moves.length), over = games.filter(({ result }) => result);
  const rated = games.filter(({ rate }) => rate !== undefined);
  const lines = games.map((saved) => {
    const { setup, result, changed, rate } = saved;
    const when = new Date(changed).toLocaleString(currentTongue(), { dateStyle: "short", timeStyle: "short" });
    const text = `${when} · ${titleOf(setup.rules)}, ${setup.players} · ${result ? t(result) : t("running")}${rate === undefined ? "" : ` · ${t("errorRate", { rate: (100 * rate).toFixed(2) })}`}`;
    const line = element("li", {}, element("span", {}, text));
    const act = (/** @type {string} */ name, /** @type {() => void} */ does) => {
      const button = element("button", { type: "button" }, t(name));
      button.addEventListener("click", does);
      line.append(button);
    };
    act("open", () => byId("dialog").close(`open:${saved.id}`));
    act("save", () => download(`five-up-${saved.id}.json`, fileOf(saved)));
    if (!saved.deals) act("copyLink", () => void navigator.clipboard.writeText(linkTo(saved)).then(() => { byId("dialog-error").textContent = t("copied"); }));
    act("remove", () => {
      forget(saved.id);
      line.remove();
    });
    return line;
  });
  const won = over.filter(({ result }) => result === "won").length;
  const head = over.length ? [element("p", {}, t("results", { won, lost: over.length - won }))] : [];
  if (rated.length > 1) head.push(element("p", {}, `${t("mean")}: ${(100 * rated.reduce((sum, { rate }) => sum + Number(rate), 0) / rated.length).toFixed(2)} %`), rateChart(rated.map(({ rate }) => Number(rate)).reverse()));
  const body = games.length ? [...head, element("ul", { class: "games" }, ...lines)] : [element("p", {}, t("noGames"))];
  const chosen = await showDialog(t("games"), body, [["", t("close")], ["load", t("load")], ...(games.length ? /** @type {[string, string][]} */ ([["all", t("saveAll")]]) : [])]);
  if (chosen === "load") byId("file").click();
  if (chosen === "all") download("five-up-games.jsonl", `${games.map(fileOf).join("\n")}\n`);
  return chosen.startsWith("open:") ? kept(chosen.slice(5)) : null;
}

/** The error rates of one's games, the oldest first. @param {number[]} rates */
function rateChart(rates) {
  const high = Math.max(...rates, 0.001), x = (/** @type {number} */ k) => 6 + 288 * k / Math.max(1, rates.length - 1), y = (/** @type {number} */ rate) => 54 - 48 * rate / high;
  const box = element("div", { class: "chart" });
  box.append(fragment(`<svg viewBox="0 0 300 60" role="img" aria-label="${t("errorRate", { rate: rates.map((rate) => (100 * rate).toFixed(2)).join(", ") })}"><path d="M${rates.map((rate, k) => `${x(k).toFixed(1)} ${y(rate).toFixed(1)}`).join("L")}" fill="none" stroke="currentColor" stroke-width="2"/></svg>`));
  return box;
}

/** Show the end of a hand, or of the game; return what its player wants next. @param {Table} table @param {string[]} names */
export async function card(table, names) {
  const number = /** @type {number} */ (table.ended), state = table.game.hands()[number], { rules } = table;
  const masks = state.get("hands"), last = state.plays[state.plays.length - 1].seat;
  const went = last === table.seat ? t("youWent") : t("domino", { who: names[last] });
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
  const winner = Number(table.game.winner), mine = winner === table.sideOf(table.seat);
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
  for (const level of LEVELS) {
    const line = rows.appendChild(element("p", {}, "…"));
    void judge("duplicate", { ...asked, level }).then(([mine, theirs]) => {
      line.textContent = t("compare", { who: peopleOf(level)[0], own: mine, other: theirs });
      if (level === LEVELS[LEVELS.length - 1]) best = `${mine} : ${theirs}`;
    });
  }
  const accept = async (/** @type {string} */ value) => {
    if (value !== "share") return true;
    await navigator.clipboard.writeText(t("shareLine", { date: String(saved.daily), own, other, best }));
    byId("dialog-error").textContent = t("copied");
    return false;
  };
  await showDialog(t("daily"), [element("p", { class: "sum" }, t("dailyDone", { own, other })), ...body, rows], [["", t("close")], ["share", t("share")]], accept);
  return "fresh";
}
