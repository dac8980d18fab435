// @ts-check
/** One's games: results and error rates over time, files and links. */
import { showDialog } from "../dialogs.js";
import { byId, element, namesOf, titleOf } from "../shared.js";
import { allGames, forget, kept } from "../store.js";
import { Table } from "../table.js";
import { currentTongue, t } from "../words.js";

/** @typedef {import("../store.js").Saved} Saved */

/** @param {string} html */
function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
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
  const games = allGames().filter(({ moves }) => moves.length), over = games.filter(({ result, setup }) => result && !setup.people);
  const rated = games.filter(({ rate, setup }) => rate !== undefined && !setup.people);
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
