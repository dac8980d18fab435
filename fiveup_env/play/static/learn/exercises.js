// @ts-check
/** Exercises: a position, one's move, the verdict; and one's own mistakes as such. */
import { tell } from "../dialogs.js";
import { exercise, openLesson } from "./lessons.js";
import { reason } from "./reasons.js";
import { isPartner, othersOf, seatBox } from "../seats.js";
import { byId, element, namesOf, titleOf } from "../shared.js";
import { dueDays, noteMistake, today } from "./spaced.js";
import { allGames } from "../store.js";
import { Table } from "../table.js";
import { allHappenings, moveText, shortly, told } from "../telling.js";
import { currentTongue, decimal, t } from "../words.js";

/** @typedef {{ said: string, isOver: boolean, more?: Element[] }} Verdict */
/** @typedef {{ title: () => string, text: string, table: Table, best: string, tried: (move: string) => Verdict }} Exercise */

/** Practise one exercise after the other, until the dialog is closed or a sentence ends it. @param {() => Exercise | string} next */
export function practise(next) {
  let now = /** @type {Exercise} */ (next());
  const board = exercise((move) => {
    const { said, isOver, more = [] } = now.tried(move);
    byId("lesson-title").textContent = now.title();
    byId("lesson-text").textContent = said;
    byId("lesson-more").prepend(...more);
    if (!isOver) return board.choose(null);
    show(now.best);
    onward.focus({ preventScroll: true });
    dialog.scrollTop = 0;
  });
  /** Show the position, or what the best move makes of it. @param {string} [best] */
  const show = (best) => {
    const { game, seat, rules, arms } = now.table, choices = game.outcomes(), made = best?.includes("-") ? [best] : [];
    board.show({
      plays: [...game.plays.map(({ move }) => move), ...made], arms: [...(arms[game.handNumber] ?? []).slice(0, game.plays.length), ...made.map(() => null)],
      spinners: String(rules.spinners), hand: game.hand(seat).filter((tile) => !made[0]?.startsWith(tile)),
      choices: best ? [] : choices, total: choices.find(({ move }) => move === made[0])?.total ?? game.total,
    });
  };
  const begin = () => {
    byId("lesson-title").textContent = now.title();
    byId("lesson-text").textContent = now.text;
    byId("lesson-facts").textContent = facts(now.table);
    byId("lesson-others").replaceChildren(...othersIn(now.table));
    byId("lesson-more").replaceChildren(movesOf(now.table));
    show();
    board.focus();
    dialog.scrollTop = 0;
  };
  const onward = element("button", { class: "main" }, t("next")), close = element("button", {}, t("close"));
  onward.addEventListener("click", () => {
    const following = next();
    if (typeof following === "string") {
      dialog.close("");
      return tell(byId("lesson-title").textContent, following);
    }
    now = following;
    begin();
  });
  close.addEventListener("click", () => dialog.close(""));
  const dialog = openLesson(onward, close);
  begin();
}

/** What happened in this hand: who drew or passed, and lacked a pip. @param {Table} table */
function movesOf(table) {
  const names = namesOf(table), hand = allHappenings(table.game).filter((one) => one.hand === table.game.handNumber);
  const lines = hand.map((what) => element("li", {}, told(what, names, table.seat)));
  return element("details", {}, element("summary", {}, t("moves")), element("ol", {}, ...lines));
}

/** The others in the order in which they play, with what each did last. @param {Table} table */
function othersIn(table) {
  const { game } = table, names = namesOf(table);
  /** @type {Map<number, string>} */
  const did = new Map();
  for (const what of allHappenings(game)) if (what.hand === game.handNumber && what.kind !== "end") did.set(what.seat, shortly(what));
  return othersOf(table.rules.players, table.seat).map((seat, k) => seatBox({
    side: table.sideOf(seat), name: `${k + 1}. ${names[seat]}`, notes: isPartner(table, seat) ? [element("small", {}, t("partnerOf"))] : [], size: game.sizes[seat], does: did.get(seat),
  }));
}

/** What else everybody sees: rules, scores, who plays next, the boneyard. @param {Table} table */
function facts(table) {
  const { game, rules, setup } = table, names = namesOf(table), own = table.sideOf(table.seat);
  const sides = game.scores.map((score, side) => ({ side, text: `${names.filter((_, seat) => table.sideOf(seat) === side).join(" + ")}: ${decimal(score)}` }))
    .sort((one, two) => Number(two.side === own) - Number(one.side === own)).map(({ text }) => text);
  const left = game.public("boneyard") - game.public("drawn");
  return [`${titleOf(setup.rules)}, ${t("target", { target: Number(rules.target) })}`, ...sides, t("playNext", { names: othersOf(table.rules.players, table.seat).map((seat) => names[seat]).join(", ") }), t("boneyard", { count: left })].join(" · ");
}

/** Return every mistake that was found in one's own seat, the biggest first. */
function own() {
  return allGames().flatMap((saved) => (saved.verdicts?.decisions ?? [])
    .filter((/** @type {any} */ one) => one.mistake && one.seat === saved.setup.seat)
    .map((/** @type {any} */ decision) => ({ saved, decision }))).sort((one, two) => two.decision.chance[0] - one.decision.chance[0]);
}

/** @typedef {ReturnType<typeof own>[number]} Mistake */

/** @param {Mistake[]} all */
const dues = (all) => dueDays(all.map(({ saved, decision }) => `${saved.id}:${decision.number}`));

/** How many of one's mistakes there are, and how many are to be solved now. */
export function mistakeCounts() {
  const days = dues(own());
  return { all: days.length, due: days.filter((day) => day <= today()).length };
}

/** Practise those of one's mistakes that are due, until all of them are solved. */
export function mistakes() {
  const all = own(), days = dues(all), due = all.filter((_, k) => days[k] <= today()), count = due.length;
  const solved = () => t("mistakesSolved", { count: all.length, date: new Date(86400000 * Math.min(...dues(all))).toLocaleDateString(currentTongue(), { timeZone: "UTC", dateStyle: "long" }) });
  if (!due.length) return tell(t("mistakes"), all.length ? solved() : t("noMistakes"));
  practise(() => {
    const [now] = due;
    if (!now) return solved();
    const { saved, decision } = now, { options, best } = decision, table = new Table(structuredClone(saved));
    while (table.game.moves.length > decision.number) table.game.pop();
    let tries = 0;
    const tried = (/** @type {string} */ move) => {
      const right = move === best;
      if (!tries++) {
        noteMistake(`${saved.id}:${decision.number}`, right);
        due.push(...due.splice(0, 1).slice(right ? 1 : 0)); // one that was not solved comes again
      }
      if (right) return { said: `${t("found", { move: moveText(move) })} ${reason(table.game, best, decision.move)}`, isOver: true };
      const lost = options[0].chance[0] - options.find((/** @type {any} */ one) => one.move === move).chance[0];
      return { said: t("notFound", { move: moveText(move), chance: decimal(100 * lost, 1) }), isOver: false };
    };
    return { title: () => `${t("mistakes")}: ${t("mistakesDue", { solved: count - due.length, count })}`, text: t("findBetter", { move: moveText(decision.move) }), table, best, tried };
  });
}
