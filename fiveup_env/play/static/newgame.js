// @ts-check
/** A new game: rules with a sentence each, players, sides, target and levels. */
import { field, select, showDialog } from "./dialogs.js";
import { Refused } from "./errors.js";
import { Game, info } from "./fiveup.mjs";
import { LEVELS, USUAL, asLevel, specsIn } from "./levels.js";
import { peopleFields } from "./company/people.js";
import { checkSpec, offer } from "./server.js";
import { byId, element, peopleOf, sentenceOf, titleOf } from "./shared.js";
import { Table, begun } from "./table.js";
import { t } from "./words.js";

/** @typedef {import("./store.js").Saved} Saved */
/** @typedef {import("./store.js").Setup} Setup */

/**
 * Return the game that somebody begins, or null.
 * @param {Setup} usual @param {(setup: Setup) => Promise<void>} openTable for people at their own browsers
 * @returns {Promise<Saved | null>}
 */
export async function newGame(usual, openTable) {
  const presets = Object.keys(info.presets).filter((name) => !name.startsWith("mini"));
  const rules = select("rules", presets.map((name) => [name, titleOf(name)]), presets.includes(usual.rules) ? usual.rules : "five_up");
  const ruleHint = element("p", { class: "hint" });
  const players = select("players", ["2", "3", "4", "5"].map((count) => [count, count]), String(usual.players));
  const sides = select("sides", [["partners", t("partners")], ["alone", t("alone")]], usual.teams === false ? "alone" : "partners");
  const target = /** @type {HTMLInputElement} */ (element("input", { type: "number", id: "target", min: "1", max: "1000000", list: "targets" }));
  const handSize = select("hand-size", [], "");
  const levels = /** @type {[string, string][]} */ (LEVELS.map((level, k) => [level, `${k + 1}. ${peopleOf(level)[0]}`]));
  const known = (/** @type {string | undefined} */ level) => (level && LEVELS.includes(level) ? level : USUAL);
  const partner = select("level-partner", levels, known(usual.levels[(usual.seat + 2) % usual.players]));
  const others = select("level-others", levels, known(usual.levels[(usual.seat + 1) % usual.players]));
  const seed = element("input", { type: "text", id: "seed", inputmode: "numeric", autocomplete: "off" });
  const specs = element("input", { type: "text", id: "specs", autocomplete: "off", spellcheck: "false" });
  const advanced = element("details", {}, element("summary", {}, t("advanced")), field(t("seedLabel"), seed), ...(offer ? [field(t("specs"), specs)] : []));
  const seated = peopleFields(usual.people);
  const sidesField = field(t("sides"), sides), partnerField = field(t("levelPartner"), partner, "");
  const othersField = field(t("levelOthers"), others, "");
  for (const [level, place] of /** @type {[HTMLSelectElement, Element][]} */ ([[partner, partnerField], [others, othersField]])) {
    const tell = () => { /** @type {Element} */ (place.lastElementChild).textContent = t(`level_${LEVELS.indexOf(level.value) + 1}`); };
    level.addEventListener("change", tell);
    tell();
  }
  /** What the rules usually have for these players. */
  const usually = () => new Game({ rules: rules.value, players: Number(players.value), seed: 0 }).rules;
  const settle = () => {
    ruleHint.textContent = t(`rule_${rules.value}`);
    sidesField.hidden = players.value !== "4";
    partnerField.hidden = players.value !== "4" || sides.value === "alone";
    const { target: points, hand_size: tiles } = usually();
    target.value = String(points);
    handSize.replaceChildren(...Array.from({ length: Math.floor(info.tiles.length / Number(players.value)) }, (_, k) => element("option", {}, String(k + 1))));
    handSize.value = String(tiles);
    seated.settle(Number(players.value), !partnerField.hidden);
  };
  for (const input of [rules, players, sides]) input.addEventListener("change", settle);
  settle();
  if (usual.target) target.value = String(usual.target);
  if (usual.hand_size) handSize.value = String(usual.hand_size);
  const targets = element("datalist", { id: "targets" }, element("option", { value: "21" }), element("option", { value: "61" }));
  /** @type {Saved | null} */
  let made = null;
  const body = [
    field(t("rules"), rules), ruleHint, field(t("players"), players), sidesField, field(t("handSize"), handSize), field(`${t("playTo")} (${t("ownTarget")})`, target), targets,
    partnerField, othersField, seated.element, advanced,
  ];
  await showDialog(t("fresh"), body, [["deal", t("deal")], ...(offer ? /** @type {[string, string][]} */ ([["links", t("byLinks")]]) : []), ["", t("cancel")]], async (value) => {
    if (!value) return true;
    try {
      if (!target.checkValidity() || !target.value) throw new Refused(t("targetRange"));
      const count = Number(players.value), alone = count !== 4 || sides.value === "alone";
      const given = /** @type {HTMLInputElement} */ (specs).value.trim();
      const asked = given ? split(given, count - 1) : null;
      for (const spec of asked ?? []) await checkSpec(spec);
      const chosen = Array.from({ length: count }, (_, seat) => (asked ? asLevel(asked[Math.max(0, seat - 1)]) : !alone && seat === 2 ? partner.value : others.value));
      const people = seated.people(count);
      const standard = usually(), wanted = { target: Number(target.value), hand_size: Number(handSize.value) };
      const changed = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => value !== standard[name]));
      const setup = { rules: rules.value, players: count, seat: 0, levels: chosen, ...(people ? { people } : {}), ...(count === 4 && alone ? { teams: false } : {}), ...changed };
      if (value === "links") {
        if (!people) throw new Refused(t("nameSomebody"));
        await openTable(setup);
        return true;
      }
      const number = /** @type {HTMLInputElement} */ (seed).value.trim();
      if (number && !/^\d{1,20}$/.test(number)) throw new Refused(`${t("seedLabel")}: 0 – 2**64 − 1`);
      made = begun(setup, number || undefined);
      new Table(made);
      return true;
    } catch (error) {
      made = null;
      byId("dialog-error").textContent = sentenceOf(error);
      return false;
    }
  });
  return made;
}

/** One spec for all, or one for each. @param {string} text @param {number} count */
function split(text, count) {
  const specs = specsIn(text);
  if (specs.length !== 1 && specs.length !== count) throw new Refused(`${t("specs")}: ${count}`);
  return specs.length === 1 ? Array(count).fill(specs[0]) : specs;
}
