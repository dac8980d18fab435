// @ts-check
/** Train an agent: choose, watch it learn, and play against it. */
import { field, select, showDialog } from "../dialogs.js";
import { Refused } from "../errors.js";
import { info } from "../fiveup.mjs";
import { USUAL } from "../levels.js";
import { byId, element, sentenceOf, titleOf } from "../shared.js";
import { begun } from "../table.js";
import { decimal, t } from "../words.js";
import { chart } from "./curve.js";
import { keepAgent } from "./kept.js";
import { DESCRIPTION, WEIGHTS, agentIn, filesOf } from "./policies.js";
import { RIVALS, Session, evenShare, notKept, rulesIn } from "./session.js";

/** @typedef {import("../store.js").Saved} Saved */
/** @typedef {import("./session.js").Choice} Choice */

const EXPERIMENT = 300_000; // decisions of each of two agents
/** What the two agents of an experiment differ in. @type {Record<string, [string, Partial<Choice>][]>} */
const EXPERIMENTS = {
  trainByReward: [["trainPoints", { reward: "margin" }], ["trainWins", { reward: "win" }]],
  trainByFeatures: [["trainGuided", { network: "guided" }], ["trainPlain", { network: "plain" }]],
  trainBySides: [["partners", { players: 4, teams: true }], ["alone", { players: 4, teams: false }]],
};

/** @type {Session | null} */
let session = null;

/** Train; return the game that somebody wants to play against an agent, or to watch. @returns {Promise<Saved | null>} */
export async function training() {
  session ??= await Session.kept().catch(() => null);
  for (;;) {
    const wanted = session ? await show(session) : await choose();
    if (!(wanted instanceof Session) && wanted !== "new") return wanted;
    session = wanted === "new" ? null : wanted;
  }
}

/** Say in the dialog why something was refused. @param {unknown} error */
const complain = (error) => { byId("dialog-error").textContent = sentenceOf(error); };

/** A button that does something in the open dialog. @param {string} sentence @param {() => unknown} does @param {Record<string, string>} [attributes] */
function button(sentence, does, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, sentence);
  made.addEventListener("click", async () => {
    byId("dialog-error").textContent = "";
    try { await does(); } catch (error) { complain(error); }
  });
  return made;
}

/** Let a new agent be chosen, or one from files. @returns {Promise<Session | Saved | null>} */
async function choose() {
  const presets = Object.keys(info.presets).filter((name) => !name.startsWith("mini"));
  const rules = select("train-rules", presets.map((name) => [name, titleOf(name)]), "five_up"), players = select("train-players", ["2", "3", "4", "5"].map((count) => [count, count]), "4");
  const sides = select("train-sides", [["partners", t("partners")], ["alone", t("alone")]], "partners"), sidesField = field(t("sides"), sides);
  const network = select("train-network", [["guided", t("trainGuided")], ["plain", t("trainPlain")]], "plain"), width = select("train-width", ["32", "64"].map((count) => [count, t("trainUnits", { count })]), "64");
  const reward = select("train-reward", [["margin", t("trainPoints")], ["win", t("trainWins")]], "margin");
  players.addEventListener("change", () => { sidesField.hidden = players.value !== "4"; });
  /** @returns {Choice} */
  const chosen = () => ({
    rules: rules.value, players: Number(players.value), ...(players.value === "4" ? { teams: sides.value === "partners" } : {}), network: network.value, width: Number(width.value), reward: reward.value,
  });
  /** @type {Session | Saved | null} */
  let made = null;
  const experiments = Object.entries(EXPERIMENTS).map(([name, two]) => button(t(name), () => {
    made = Session.new(two.map(([sentence, differs]) => ({ name: sentence, choice: { ...chosen(), ...differs } })), EXPERIMENT);
    byId("dialog").close("");
  }, { value: name }));
  const files = /** @type {HTMLInputElement} */ (element("input", { type: "file", id: "train-files", multiple: "", accept: ".json,.safetensors" }));
  files.addEventListener("change", async () => {
    try {
      made = await seatedFrom([...files.files ?? []]);
      byId("dialog").close("");
    } catch (error) {
      complain(error);
    }
  });
  const body = [
    element("p", {}, t("trainIntro")), field(t("rules"), rules), field(t("players"), players), sidesField, field(t("trainNetwork"), network, t("trainNetworkHint")), field(t("trainWidth"), width),
    field(t("trainReward"), reward), element("details", {}, element("summary", {}, t("trainExperiments")), element("p", { class: "hint" }, t("trainExperimentsHint", { count: decimal(EXPERIMENT) })), element("div", { class: "list" }, ...experiments)),
    element("details", {}, element("summary", {}, t("trainLoad")), field(t("trainFiles"), files, t("trainFilesHint"))),
  ];
  const value = await showDialog(t("train"), body, [["go", t("trainGo")], ["", t("close")]]);
  return value ? Session.new([{ name: "", choice: chosen() }]) : made;
}

/** Return a game against the policy of two files. @param {File[]} files */
async function seatedFrom(files) {
  const named = (/** @type {string} */ end) => files.find(({ name }) => name.endsWith(end)), weights = named(".safetensors"), description = named(".json");
  if (!weights || !description) throw new Refused(t("trainBoth", { weights: WEIGHTS, description: DESCRIPTION }));
  const agent = agentIn(new Uint8Array(await weights.arrayBuffer()), await description.text()), { rules = [], players = [] } = agent.about, { packed } = await import("../learning.mjs");
  const known = Object.hasOwn(info.presets, rules[0]) ? rules[0] : "five_up", count = [2, 3, 4, 5].includes(players[0]) ? players[0] : 4;
  return seated(packed(agent.shape, agent.weights), { rules: known, players: count }, false);
}

/** Return a game with an agent in seats. @param {Uint8Array} bytes @param {{ rules: string, players: number, teams?: boolean }} rules @param {boolean} watched whether it plays for oneself, against the usual level */
async function seated(bytes, rules, watched) {
  const level = await keepAgent(bytes).catch((error) => { throw new Refused(notKept(error)); }), sides = Math.round(1 / evenShare(/** @type {Choice} */ (rules)));
  const levels = Array.from({ length: rules.players }, (_, seat) => (watched && seat % sides ? USUAL : level));
  return begun({ ...rules, seat: 0, levels }, undefined, watched ? { watched } : {});
}

/** Show how agents learn. @param {Session} of @returns {Promise<Saved | null | "new">} */
async function show(of) {
  const drawing = element("div"), facts = element("div"), saved = element("p", { class: "legend" }), trouble = element("p", { class: "hint", role: "status" });
  const run = select("train-run", of.runs.map(({ name }, k) => [String(k), name && t(name)]), "0"), which = () => Number(run.value), choice = () => of.runs[which()].choice;
  const runField = field(t("trainWhich"), run);
  runField.hidden = of.runs.length < 2;
  const paint = () => {
    const curves = of.runs.length > 1
      ? of.runs.map(({ name, points }) => ({ name: t("trainAgainst", { who: t(name), rival: RIVALS[0] }), points: points.map(({ decisions, rates }) => ({ at: decisions, rate: rates[0] })) }))
      : RIVALS.map((rival, k) => ({ name: t("trainRival", { rival }), points: of.runs[0].points.map(({ decisions, rates }) => ({ at: decisions, rate: rates[k] })) }));
    drawing.replaceChildren(chart(curves, [...new Set(of.runs.map(({ choice: one }) => evenShare(one)))]));
    facts.replaceChildren(table(of.runs));
    onward.textContent = t(of.isOn ? "trainPause" : "trainOn");
    onward.hidden = of.isDone && !of.isOn;
    trouble.textContent = of.trouble;
    document.body.dataset.training = of.isOn ? "on" : of.isBusy ? "busy" : of.isDone ? "done" : "paused";
  };
  const go = () => of.go().catch(complain);
  const onward = button("", () => { if (of.isOn) of.pause(); else void go(); }, { id: "train-onward" });
  const save = button(t("trainSave"), async () => {
    const links = Object.entries(filesOf(await of.agent(which()))).map(([name, bytes]) => element("a", { download: name, href: URL.createObjectURL(new Blob([/** @type {BufferSource} */ (bytes)])) }, name));
    saved.replaceChildren(t("trainSaved"), ...links.flatMap((link) => [" ", link]));
  }, { id: "train-save" });
  /** @type {Saved | null | "new"} */
  let made = null;
  const fresh = button(t("trainNew"), () => {
    of.end();
    made = "new";
    byId("dialog").close("");
  }, { id: "train-new" });
  of.changed = paint;
  paint();
  if (!of.runs[0].decisions) void go();
  const { rules, players, teams } = choice(), title = element("p", {}, [titleOf(rules), String(players), ...(players === 4 ? [t(teams === false ? "alone" : "partners")] : [])].join(" · "));
  const value = await showDialog(t("train"), [title, drawing, facts, element("div", { class: "signs" }, onward, save, fresh), saved, runField, trouble], [["play", t("trainPlay")], ["watch", t("trainWatch")], ["", t("close")]], async (value) => {
    if (!value) return true;
    try {
      made = await seated(await of.policy(which()), rulesIn(choice()), value === "watch");
      return true;
    } catch (error) {
      complain(error);
      return false;
    }
  });
  of.changed = () => {};
  of.pause();
  return value || made === "new" ? made : null;
}

/** What is known of agents, each in a column. @param {import("./session.js").Run[]} runs */
function table(runs) {
  const latest = runs.map(({ points }) => points.at(-1)?.rates), shown = (/** @type {import("./session.js").Rate} */ { mean, low, high }) => `${decimal(100 * mean)} % (${decimal(100 * low)} – ${decimal(100 * high)})`;
  const rows = [
    ...RIVALS.map((rival, k) => [t("trainRival", { rival }), ...latest.map((rates) => (rates ? shown(rates[k]) : "…"))]),
    [t("trainLearnt"), ...runs.map(({ decisions }) => decimal(decisions))], [t("trainSpeed"), ...runs.map(({ decisions, seconds }) => (seconds ? decimal(decisions / seconds) : "…"))],
    [t("trainSeconds"), ...runs.map(({ seconds }) => decimal(seconds))],
  ];
  const line = (/** @type {string[]} */ [name, ...cells]) => element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((text) => element("td", {}, text)));
  const head = element("tr", {}, element("td"), ...runs.map(({ name }) => element("th", {}, name && t(name))));
  return element("table", { class: "figures" }, ...(runs.length > 1 ? [element("thead", {}, head)] : []), element("tbody", {}, ...rows.map(line)));
}
