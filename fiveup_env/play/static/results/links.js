// @ts-check
/** Links to a deal, and what the page's address asks for. */
import { Refused } from "../errors.js";
import { USUAL, asLevel, specsIn } from "../levels.js";
import { sentenceOf } from "../shared.js";
import { Table, begun } from "../table.js";
import { t } from "../words.js";
import { LONGEST_NAME, greeting, movesIn } from "./challenge.js";
import { dateOf, today } from "./daily.js";

/** @typedef {import("../store.js").Saved} Saved */

/**
 * A link to the deal of a game: `?rules=five_up&players=2&levels=level:5,level:5&seed=7`.
 * @param {Saved} saved @param {{ by: string, made: string }} [challenge] who sends it, and the moves of a game
 */
export function linkTo({ setup, seed }, challenge) {
  const { rules, players, teams, target, hand_size: tiles, levels } = setup;
  const asked = new URLSearchParams({ rules, players: String(players), levels: levels.join(","), seed, ...(teams === false ? { alone: "" } : {}), ...(target ? { target: String(target) } : {}), ...(tiles ? { tiles: String(tiles) } : {}), ...challenge });
  return `${location.origin}${location.pathname}?${asked}`;
}

/** @param {URLSearchParams} asked @returns {Table} */
function dealOf(asked) {
  const number = (/** @type {string} */ name, /** @type {string} */ usual) => {
    const text = asked.get(name) ?? usual;
    if (!/^\d{1,20}$/.test(text)) throw new Refused(t("badLink"));
    return text;
  };
  const players = Number(number("players", "4")), levels = specsIn(asked.get("levels") ?? "").map(asLevel);
  if (players < 2 || players > 5 || levels.length > players) throw new Refused(t("badLink"));
  const setup = {
    rules: asked.get("rules") ?? "five_up", players, seat: 0, levels: Array.from({ length: players }, (_, seat) => levels[seat] ?? USUAL),
    ...(asked.has("alone") ? { teams: false } : {}), ...(asked.has("target") ? { target: Number(number("target", "")) } : {}),
    ...(asked.has("tiles") ? { hand_size: Number(number("tiles", "")) } : {}),
  };
  try { return new Table(begun(setup, number("seed", ""))); } catch { throw new Refused(t("badLink")); }
}

/** Take up the challenge that the address holds; return what is said of it. @param {Saved} saved @param {URLSearchParams} asked */
function challengeOf(saved, asked) {
  const by = asked.get("by")?.trim().slice(0, LONGEST_NAME) ?? "";
  if (!asked.has("made")) return "";
  try { saved.challenge = { by: by || "?", moves: movesIn(saved, asked.get("made") ?? "") }; } catch (error) { return sentenceOf(error); }
  return greeting(saved);
}

/** @param {string} text */
function dayOf(text) {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T12:00`) : null;
  if (!day || Number.isNaN(Number(day)) || dateOf(day) !== text) throw new Refused(t("badLink"));
  if (text > today()) throw new Refused(t("dayToCome"));
  return text;
}

/** What the address asks for: `?seed=7` a deal, `#puzzle=600000123` a puzzle, `#daily=2026-11-27` a day, `#seat=` a seat at a table of this server; refuse what there is not. `said` is what to say of it. */
export function linked() {
  const asked = new URLSearchParams(location.search), [, what, which = ""] = location.hash.match(/^#(puzzle|daily|seat|proof)=(.*)$/) ?? [];
  const deal = asked.has("seed") ? dealOf(asked) : null;
  return { deal, said: deal ? challengeOf(deal.saved, asked) : "", puzzle: what === "puzzle" ? which : "", day: what === "daily" ? dayOf(which) : "", seat: what === "seat" ? which : "", proof: what === "proof" ? which : "" };
}
