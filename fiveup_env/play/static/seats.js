// @ts-check
/** The others at a table, in the order in which they play: name, level, tiles, and what each did last. */
import { LEVELS } from "./levels.js";
import { element } from "./shared.js";
import { backSvg, tileSvg } from "./tiles.js";
import { t, tilesText } from "./words.js";

/** @typedef {import("./table.js").Table} Table */

/** The seats after one's own, the next to play first. @param {number} players @param {number} own */
export const othersOf = (players, own) => Array.from({ length: players - 1 }, (_, k) => (own + 1 + k) % players);

/** Return a seat; its tiles lie face down unless they are named. @param {{ side: number, name: string, notes?: Element[], size: number, tiles?: string[], does?: string }} seat */
export function seatBox({ side, name, notes = [], size, tiles, does = "" }) {
  const label = tiles ? tiles.join(", ") : t("backs", { who: name, tiles: tilesText(size) });
  const held = element("span", { class: "tiles", role: "img", "aria-label": label }), who = element("b", {}, name, ...notes.flatMap((note) => [" ", note]));
  held.innerHTML = tiles ? tiles.map(tileSvg).join("") : backSvg.repeat(size);
  return element("div", { class: "seat" }, element("i", { class: `side-${side}` }), who, element("small", { class: "count" }, String(size)), element("span", { class: "does" }, does), held);
}

/** @param {Table} table @param {number} seat */
export const isPartner = (table, seat) => table.sideOf(seat) === table.sideOf(table.seat);

/** What stands beside a name: the level, and whether it is one's partner. @param {Table} table @param {number} seat */
function notesOf(table, seat) {
  const named = table.setup.people?.[seat] ?? table.saved.names?.[seat], level = named ? -1 : LEVELS.indexOf(table.setup.levels[seat]), text = t("levelShort", { level: level + 1 });
  const badge = level < 0 ? [] : [element("small", { class: "level", title: text }, element("span", {}, text), element("i", { "aria-hidden": "true" }, String(level + 1)))];
  return [...badge, ...(isPartner(table, seat) ? [element("small", {}, t("partnerOf"))] : [])];
}

/**
 * Return a box for each of the other seats of a table.
 * @param {Table} table @param {any} state @param {string[]} names
 * @param {{ isNow: boolean, thinking: number, does: Map<number, string> }} now whether the state is that of now, who thinks, and what each seat did last
 */
export function seatBoxes(table, state, names, { isNow, thinking, does }) {
  return othersOf(table.rules.players, table.seat).map((seat) => {
    const doing = table.isAway(seat) ? t("isAway") : thinking === seat ? "…" : does.get(seat);
    const box = seatBox({ side: table.sideOf(seat), name: names[seat], notes: notesOf(table, seat), size: state.sizes[seat], does: doing });
    box.classList.toggle("turn", table.game.turn === seat && isNow);
    box.classList.toggle("thinks", thinking === seat);
    box.dataset.seat = String(seat);
    return box;
  });
}
