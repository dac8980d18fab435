// @ts-check
/** Eyes: what each move is worth, and where the hidden tiles are, as one's seat could work it out. */
import { byId, namesOf, valueRow } from "./shared.js";
import { ask } from "./thinkers.js";
import { decimal, t } from "./words.js";

let eyesFor = 0;

/** Show what the open eyes see from one's seat; null: nothing. @param {import("./table.js").Table | null} table */
export async function openEyes(table) {
  const mine = ++eyesFor, [moves, hidden] = [byId("eye-moves").checked, byId("eye-hidden").checked];
  byId("seen-moves").replaceChildren();
  byId("seen-hidden").replaceChildren();
  if (!table) return;
  if (moves || hidden) table.saved.helped = true;
  const view = table.game.view(table.seat).bytes;
  if (hidden) {
    const found = await ask("hidden", { view });
    if (mine === eyesFor) byId("seen-hidden").replaceChildren(hiddenTable(found, table));
  }
  if (moves) {
    const found = await ask("worth", { view, worlds: 400, key: 1n });
    if (mine === eyesFor) byId("seen-moves").replaceChildren(...found.map((/** @type {any} */ option) => valueRow(option.move, option.chance)));
  }
}

/** @param {{ worlds: string, shares: Float64Array[] }} found @param {import("./table.js").Table} table */
function hiddenTable({ worlds, shares }, table) {
  const box = document.createElement("div"), names = namesOf(table), { players } = table.rules;
  const seats = Array.from({ length: players - 1 }, (_, k) => (table.seat + 1 + k) % players);
  const places = [...seats.map((seat) => ({ name: names[seat], row: shares[seat] })), { name: t("yard"), row: shares[5] }];
  const all = Array.from({ length: 28 }, (_, k) => k).filter((k) => places.reduce((sum, { row }) => sum + row[k], 0) > 0);
  const pair = (/** @type {number} */ k) => {
    let high = 0;
    while ((high + 1) * (high + 2) / 2 <= k) high++;
    return `${high}-${k - high * (high + 1) / 2}`;
  };
  const cell = (/** @type {number} */ share) => `<td class="p${share > 0.66 ? 3 : share > 0.33 ? 2 : share > 0 ? 1 : 0}">${share ? Math.round(100 * share) : ""}</td>`;
  box.className = "grid";
  box.innerHTML = `<table><thead><tr><td></td>${places.map(() => "<th scope=col></th>").join("")}</tr></thead>${all.map((k) => `<tr><th scope=row>${pair(k)}</th>${places.map(({ row }) => cell(row[k])).join("")}</tr>`).join("")}</table><p class="hint"></p>`;
  [...box.querySelectorAll("thead th")].forEach((head, k) => { head.textContent = places[k].name; });
  /** @type {Element} */ (box.querySelector("p")).textContent = t("worlds", { count: decimal(Number(worlds)) });
  return box;
}
