// @ts-check
/** One's games: results, files and links. */
import { copy, showDialog } from "../dialogs.js";
import { byId, element, namesOf, titleOf } from "../shared.js";
import { allGames, forget, isResult, kept, put } from "../store.js";
import { Table } from "../table.js";
import { currentTongue, decimal, t } from "../words.js";
import { canChallenge, challenge } from "./challenge.js";
import { linkTo } from "./links.js";

/** @typedef {import("../store.js").Saved} Saved */

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

/** A line of the list: what a game is, and what can be done with it. @param {Saved} saved */
function lineOf(saved) {
  const { setup, result, changed, rate, daily, opened, again, id } = saved, line = element("li");
  const when = new Date(changed).toLocaleString(currentTongue(), { dateStyle: "medium", timeStyle: "short" });
  const kind = opened ? "openedGame" : daily ? "daily" : again ? "playedAgain" : "";
  const facts = [when, `${titleOf(setup.rules)}, ${setup.players}`, t(result ?? "running"), rate === undefined ? "" : t("errorRate", { rate: decimal(100 * rate, 2) }), kind && t(kind)];
  /** @param {string} text @param {[string, () => void][]} buttons */
  const show = (text, buttons) => {
    line.replaceChildren(element("span", {}, text), ...buttons.map(([name, does]) => {
      const button = element("button", { type: "button" }, t(name));
      button.addEventListener("click", does);
      return button;
    }));
  };
  const showGame = () => show(facts.filter(Boolean).join(" · "), [
    ["open", () => byId("dialog").close(`open:${id}`)],
    ["save", () => download(`five-up-${id}.json`, fileOf(saved))],
    ...(saved.deals?.length ? [] : /** @type {[string, () => void][]} */ ([["copyLink", () => void copy(linkTo(saved))]])),
    ...(canChallenge(saved) ? /** @type {[string, () => void][]} */ ([["challenge", () => void challenge(saved, new Table(saved).game)]]) : []),
    ["remove", () => change(() => show(t("askRemove"), [["remove", () => change(remove)], ["keepIt", () => change(showGame)]]))],
  ]);
  const remove = () => {
    forget(id);
    show(t("removed"), [["bringBack", () => change(() => {
      put(saved);
      showGame();
    })]]);
  };
  /** Change the line, and keep the keyboard in it. @param {() => void} does */
  const change = (does) => {
    does();
    line.querySelector("button")?.focus();
  };
  showGame();
  return line;
}

/** Show one's games; return the one to open, or null. @returns {Promise<Saved | null>} */
export async function gamesList() {
  const games = allGames().filter(({ moves }) => moves.length), own = games.filter(isResult);
  const won = own.filter(({ result }) => result === "won").length;
  const head = own.length ? [element("p", {}, t("results", { won, lost: own.length - won }))] : [];
  if (own.length < games.filter(({ result }) => result).length) head.push(element("p", { class: "hint" }, t("notCounted")));
  const body = games.length ? [...head, element("ul", { class: "games" }, ...games.map(lineOf))] : [element("p", {}, t("noGames"))];
  const chosen = await showDialog(t("games"), body, [["", t("close")], ["load", t("load")], ...(games.length ? /** @type {[string, string][]} */ ([["all", t("saveAll")]]) : [])]);
  if (chosen === "load") byId("file").click();
  if (chosen === "all") download("five-up-games.jsonl", `${allGames().filter(({ moves }) => moves.length).map(fileOf).join("\n")}\n`);
  const opened = chosen.startsWith("open:") ? kept(chosen.slice(5)) : null;
  if (opened?.result && !opened.given) opened.seen = 0; // its card shows again
  return opened;
}
