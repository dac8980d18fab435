// @ts-check
/** One's own mistakes as exercises: the position before the move, "find better", the verdict. */
import { showDialog } from "./dialogs.js";
import { exercise } from "./lessons.js";
import { byId, element, namesOf } from "./shared.js";
import { allGames } from "./store.js";
import { Table } from "./table.js";
import { moveText } from "./telling.js";
import { percent, t } from "./words.js";

/** Return every mistake that was found in one's own seat, the biggest first. */
function own() {
  return allGames().flatMap((saved) => (saved.verdicts?.decisions ?? [])
    .filter((/** @type {any} */ one) => one.mistake && one.seat === saved.setup.seat)
    .map((/** @type {any} */ decision) => ({ saved, decision }))).sort((one, two) => two.decision.chance[0] - one.decision.chance[0]);
}

/** Practise one mistake after the other. */
export async function mistakes() {
  const all = own();
  if (!all.length) return void showDialog(t("mistakes"), [element("p", {}, t("noMistakes"))], [["", t("close")]]);
  const dialog = /** @type {HTMLDialogElement} */ (byId("lesson"));
  let number = 0;
  const board = exercise((move) => {
    const { decision } = all[number], options = decision.options, option = options.find((/** @type {any} */ one) => one.move === move);
    const lost = options[0].chance[0] - option.chance[0];
    byId("lesson-text").textContent = move === decision.best ? t("found", { move: moveText(move) }) : t("notFound", { move: moveText(move), percent: percent(lost) });
    board.choose(null);
  });
  const begin = () => {
    const { saved, decision } = all[number], table = new Table(structuredClone(saved));
    while (table.game.moves.length > decision.number) table.game.pop();
    const { game } = table, arms = table.arms[game.handNumber].slice(0, game.plays.length);
    byId("lesson-title").textContent = `${t("mistakes")}: ${number + 1} / ${all.length}`;
    byId("lesson-text").textContent = `${t("findBetter", { move: moveText(decision.move) })} ${namesOf(table).map((name, seat) => `${name}: ${game.sizes[seat]}`).join(" · ")}`;
    board.show({ plays: game.plays.map(({ move }) => move), arms, spinners: String(table.rules.spinners), hand: game.hand(table.seat), choices: game.outcomes(), total: game.total });
  };
  const next = element("button", { class: "main" }, t("nextOne")), close = element("button", {}, t("close"));
  next.addEventListener("click", () => {
    number = (number + 1) % all.length;
    begin();
  });
  close.addEventListener("click", () => dialog.close(""));
  byId("lesson-menu").replaceChildren(next, close);
  dialog.showModal();
  begin();
}
