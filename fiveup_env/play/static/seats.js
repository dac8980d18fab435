// @ts-check
/** The other seats: name, tiles by their backs, and what each did last. */
import { backSvg } from "./tiles.js";
import { t, tilesText } from "./words.js";

/**
 * Return a box for each of the other seats, the next one first.
 * @param {import("./table.js").Table} table @param {any} state @param {string[]} names
 * @param {{ isNow: boolean, thinking: number, does: Map<number, string> }} now whether the state is that of now, who thinks, and what each seat did last
 */
export function seatBoxes(table, state, names, { isNow, thinking, does }) {
  const { players } = table.rules, { sizes } = state;
  const others = Array.from({ length: players - 1 }, (_, k) => (table.seat + 1 + k) % players);
  return others.map((seat) => {
    const box = document.createElement("div"), partner = table.sideOf(seat) === table.sideOf(table.seat);
    box.className = `seat${table.game.turn === seat && isNow ? " turn" : ""}${thinking === seat ? " thinks" : ""}`;
    box.dataset.seat = String(seat);
    box.innerHTML = `<i class="side-${table.sideOf(seat)}"></i><b></b><small class="count">${sizes[seat]}</small><span class="does"></span><span class="tiles" role="img">${backSvg.repeat(sizes[seat])}</span>`;
    const [, name, , doing, tiles] = box.children;
    name.textContent = names[seat];
    if (partner) name.insertAdjacentHTML("beforeend", ` <small>${t("partnerOf")}</small>`);
    doing.textContent = table.isAway(seat) ? t("isAway") : thinking === seat ? "…" : does.get(seat) ?? "";
    tiles.setAttribute("aria-label", t("backs", { who: names[seat], tiles: tilesText(sizes[seat]) }));
    return box;
  });
}
