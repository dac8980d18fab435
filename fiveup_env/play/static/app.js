// @ts-check
/** The page: one game at the table, and the ways to all else. */
import { Board } from "./board.js";
import { card } from "./results/card.js";
import { challenge } from "./results/challenge.js";
import { daily } from "./results/daily.js";
import { confirmAgain, confirmStudy, menu, tell } from "./dialogs.js";
import { openEyes } from "./eyes.js";
import { mistakes } from "./learn/exercises.js";
import { Seen } from "./fiveup.mjs";
import { USUAL, asLevel, isFetched, isTrained, specIn } from "./levels.js";
import { gamesList } from "./results/games.js";
import { linked } from "./results/links.js";
import { progress } from "./results/progress.js";
import { lessons } from "./learn/lessons.js";
import { solved } from "./learn/solved.js";
import { newGame } from "./newgame.js";
import { companyDialog, openTable, sitAt } from "./company/company.js";
import { cover } from "./company/people.js";
import { HostedTable } from "./company/seen.js";
import { onFile } from "./files.js";
import { checkLink, proofDialog } from "./proving.js";
import { puzzles } from "./learn/puzzles.js";
import { askServer, gamesToStudy, keepOnServer, offer, watchedOnServer } from "./server.js";
import { seatBoxes } from "./seats.js";
import { byId, namesOf, say, scoreRows, sentenceOf, settleScores, showTitle } from "./shared.js";
import { clack } from "./sound.js";
import { forget, keep, kept, latest, onChange, onTrouble, put, remember, remembered, setAside } from "./store.js";
import { study } from "./study/study.js";
import { Table, begun, gamesIn } from "./table.js";
import { allHappenings, happenings, shortly, told, why } from "./telling.js";
import { ask, prepareJudges } from "./thinkers.js";
import { training } from "./training/training.js";
import { speak, t, translate } from "./words.js";

const PAUSE = 750;

/** @type {Table} */
let table;
let run = 0; // counts what goes on at the table, so that what is older stops
/** @type {{ hand: number, plays: number } | null} */
let lookAt = null; // a moment of the past
/** @type {Map<number, string>} */
let does = new Map(); // what each seat did last
let thinking = -1;
let rise = "";
let notice = ""; // what is said with the next move
/** @type {import("./telling.js").Happening[]} */
let happened = []; // all that happened in this game

const board = new Board({ felt: byId("layout"), hand: byId("hand"), choices: byId("choices") }, play);

// --- Painting

/** The state that is shown: a hand that has just ended, or the game as it stands. */
function shownState() {
  if (lookAt) return table.game.hands()[lookAt.hand];
  const ended = table.ended ?? (table.isOver && !table.saved.given ? table.game.lastHand()?.handNumber ?? null : null);
  return ended === null ? table.game : table.game.hands()[ended];
}

function paint() {
  const state = shownState(), names = namesOf(table), live = !lookAt && table.ended === null && !table.isOver;
  const { rules } = table, plays = state.plays.map(({ move }) => move);
  showTitle(table, state.handNumber);
  byId("scores").replaceChildren(...scoreRows(table, state.scores, names));
  paintSeats(state, names);
  const mine = live && table.isMine;
  const shown = lookAt ? lookAt.plays : plays.length;
  const held = lookAt || table.ended !== null || table.isOver ? [] : table.hand;
  const total = lookAt ? totalAt(lookAt) : state.total;
  board.show({
    plays, shown, arms: table.arms[state.handNumber] ?? [], spinners: String(rules.spinners), hand: held,
    choices: mine ? table.game.outcomes() : [], total, rise,
  });
  rise = "";
  byId("mine").classList.toggle("turn", mine);
  const last = happened.find(({ kind, hand, plays: count }) => kind === "play" && hand === state.handNumber && count === shown);
  byId("total").textContent = last?.points ? `${t("total", { total })} = ${board.counts().join(" + ")}: ${t("plus", { points: last.points })}` : t("total", { total });
  byId("total").classList.toggle("scores", Boolean(last?.points));
  byId("total").title = t("whyScore");
  byId("boneyard").textContent = t("boneyard", { count: state.public("boneyard") - state.public("drawn") });
  byId("now").hidden = !lookAt;
  byId("proof").textContent = table.digests.length ? t(table.begunAgain ? "dealAgain" : "dealDigest", { digest: table.digests[0].slice(0, 8), count: table.begunAgain }) : t("proof");
  byId("undo").disabled = !table.canUndo || !happened.some(({ kind, seat }) => seat === table.seat && kind !== "end");
  paintLog(names);
  document.body.dataset.moves = String(table.game.moves.length);
  document.body.dataset.state = live ? (mine ? "yours" : "theirs") : table.isOver && table.ended === null ? "over" : "stopped";
}

/** @param {{ hand: number, plays: number }} at */
function totalAt({ hand, plays }) {
  return happened.find((what) => what.kind === "play" && what.hand === hand && what.plays === plays)?.total ?? 0;
}

/** @param {any} state @param {string[]} names */
function paintSeats(state, names) {
  byId("seats").replaceChildren(...seatBoxes(table, state, names, { isNow: !lookAt && table.ended === null, thinking, does }));
}

/** Write what happened since the log was painted; all of it anew after an undo. @param {string[]} names */
function paintLog(names) {
  const log = byId("log");
  while (log.children.length > happened.length) log.lastChild.remove();
  for (const what of happened.slice(log.children.length)) {
    const line = document.createElement("li"), button = document.createElement("button");
    line.className = what.kind;
    button.textContent = told(what, names, table.me);
    button.addEventListener("click", () => {
      lookAt = { hand: what.hand, plays: what.plays };
      paint();
    });
    line.append(button);
    log.append(line);
  }
  log.querySelector(".here")?.classList.remove("here");
  const here = lookAt ? happened.findIndex(({ kind, hand, plays }) => kind === "play" && hand === lookAt?.hand && plays === lookAt?.plays) : -1;
  log.children[here]?.classList.add("here");
  if (!lookAt) log.scrollTop = 1e6;
}

/** Read all that happened anew. */
function readHappenings() {
  happened = allHappenings(table.game);
  byId("log").replaceChildren();
}

// --- Playing

/** Sit down at a table. @param {Table} at */
function sitDown(at) {
  if (table && !table.game.moves.length && table.saved.id !== at.saved.id) forget(table.saved.id);
  if (table && table.hash !== at.hash) table.leave();
  table = at;
  byId("company").hidden = !(table instanceof HostedTable);
  byId("undo").hidden = !byId("company").hidden;
  if (!(table instanceof HostedTable)) keep(table.saved);
  run++;
  lookAt = null;
  thinking = -1;
  does = new Map();
  settleScores(table.game.scores);
  readHappenings();
  history.replaceState(null, "", location.pathname + table.hash);
  byId("studying").hidden = true;
  byId("table").hidden = byId("actions").hidden = false;
  warmed = false;
  say("");
  paint();
  void goOn();
}

/** Make one's own move. @param {string} move @param {number | null} arm */
function play(move, arm) {
  if (lookAt || !table.isMine || table.ended !== null) return;
  does = new Map();
  if (table instanceof HostedTable) table.send(move, arm);
  else made(move, arm);
  void goOn();
}

/** Make a move and show it. @param {string} move @param {number | null} arm */
function made(move, arm) {
  const { game } = table, before = new Seen("game", game.bytes.slice()), moves = game.moves.length;
  table.play(move, arm);
  const ended = game.handNumber !== before.handNumber || game.isGameOver();
  const after = ended ? /** @type {Seen} */ (game.lastHand()) : new Seen("game", game.bytes.slice());
  const news = [...happenings({ before, move, after }, moves)], names = namesOf(table), { points } = news[0];
  happened.push(...news);
  for (const what of news) if (what.kind !== "end") does.set(what.seat, shortly(what));
  rise = points ? t("plus", { points }) : "";
  say([notice, ...news.map((what) => told(what, names, table.me))].join(" ").trim(), notice !== "");
  notice = "";
  clack(points);
  paint();
  keepFile();
}

/** @param {number} times */
const pause = (times) => new Promise((done) => { setTimeout(done, PAUSE * times * Number(remembered("pace", "1"))); });

/** Let the others move until it is one's own turn, a hand has ended or the game is over. */
async function goOn() {
  const mine = ++run;
  try {
    while (!table.isOver && table.ended === null && !table.isMine) {
      const seat = /** @type {number} */ (table.game.turn), level = table.setup.levels[seat];
      if (table.isCovered) {
        paint();
        look();
        const shown = await cover(namesOf(table)[seat]);
        if (mine !== run) return;
        if (shown) table.looking = seat;
        paint();
        continue;
      }
      thinking = seat;
      paintSeats(table.game, namesOf(table));
      const [move] = await Promise.all([table instanceof HostedTable ? table.news() : answer(level, seat), pause(seat === table.seat ? 0 : 1)]);
      if (mine !== run) return;
      thinking = -1;
      if (move) made(move, null);
    }
    if (table.ended !== null) {
      await pause(1.6);
      if (mine === run) await endOfHand();
    } else if (table.isMine) {
      const choices = table.game.legalMoves();
      if (!byId("said").textContent) say(t(table.game.plays.length || choices.length < 2 ? "yourTurn" : "yourLead"));
      board.focus();
      look();
      warm();
    }
  } catch (error) {
    if (mine === run) say(t("failed", { why: sentenceOf(error) }), true);
  }
}

let warmed = false;

/** Let the worker make ready for searches while a person thinks. */
function warm() {
  if (!warmed) ask("warm", { view: table.game.view(0).bytes, levels: [...new Set(table.setup.levels.filter((level) => !specIn(level)))] }).catch(() => {});
  warmed = true;
}

/** Ask whoever plays a seat. @param {string} level @param {number} seat @returns {Promise<string>} */
async function answer(level, seat) {
  const view = table.game.view().bytes, spec = specIn(level), { key } = table;
  if (spec === null && !isFetched(level)) return ask("ask", { view, level, key });
  try {
    return await (spec === null ? ask("ask", { view, level, key }) : askServer(spec, view, key));
  } catch {
    notice = t(isTrained(level) ? "agentGone" : "serverGone", { who: namesOf(table)[seat] });
    return ask("ask", { view, level: USUAL, key });
  }
}

async function endOfHand() {
  prepareJudges(table.game.view(0).bytes); // while the card is read
  const chosen = await card(table, namesOf(table));
  table.lookedAt();
  does = new Map();
  say("");
  if (chosen === "study") return openStudy(/** @type {Table} */ (table.local));
  if (chosen === "again") return dealAgain();
  paint();
  if (chosen === "fresh") return openNewGame();
  if (chosen === "challenge") return challenge(table.saved, table.game);
  if (chosen === "days") return sitDownTo(await daily(table.saved.daily?.slice(0, 7)));
  if (!table.isOver) await goOn();
}

/** Let the server's host keep the game, too. */
function keepFile() {
  if (offer?.games && !(table instanceof HostedTable)) keepOnServer(table.saved.id, table.file(namesOf(table))).catch(() => { notice = t("serverSilent"); });
}

/** Open the eyes on one's own turn. */
function look() {
  void openEyes(table.isMine && !lookAt && table.ended === null ? table : null);
}

// --- Ways to all else

async function openNewGame() {
  const saved = await newGame(table.setup, (setup) => openTable(setup, page));
  if (saved) sitDown(new Table(saved));
}

/** Begin the same deal once more; a running game is kept, and its player asked. */
async function again() {
  if (!table.isOver && table.game.moves.length && !(table instanceof HostedTable) && !await confirmAgain()) return;
  dealAgain();
}

function dealAgain() {
  if (table instanceof HostedTable) table.line.send({ type: "again" });
  else sitDown(new Table(begun(table.setup, table.saved.seed, { deals: table.saved.deals })));
}

function undo() {
  if (byId("undo").disabled) return;
  const undone = table.undo();
  lookAt = null;
  does = new Map();
  thinking = -1;
  settleScores(table.game.scores);
  readHappenings();
  run++;
  say(t(undone ? "takenBack" : "nothingToUndo"));
  paint();
  void goOn();
}

/** Study this game; one that is not over ends here, because a study shows all tiles. */
async function studyThis() {
  if (table instanceof HostedTable && !table.local) return say(t("notNow"), true);
  if (!table.isOver && table.game.moves.length) {
    if (!await confirmStudy()) return;
    table.giveUp();
    table.lookedAt();
  }
  openStudy(/** @type {Table} */ (table.local));
}

/** @param {Table} of */
function openStudy(of) {
  run++;
  void study(of, namesOf(of), (saved) => sitDown(table instanceof HostedTable && !saved ? table : new Table(saved ?? kept(table.saved.id) ?? table.saved)));
}

/** The table of a kept game; one that cannot be read is set aside. @param {import("./store.js").Saved | null} saved */
function tableOf(saved) {
  try { return saved && new Table(saved); } catch {
    setAside(/** @type {import("./store.js").Saved} */ (saved).id);
    return null;
  }
}

/** @param {import("./store.js").Saved | null} saved */
function sitDownTo(saved) {
  const at = tableOf(saved);
  if (at) sitDown(at);
}

/** Open what the address names beside a game: a puzzle, a day, or a seat. @param {{ puzzle: string, day: string, seat: string, proof: string }} asked */
function openLinked({ puzzle, day, seat, proof }) {
  if (proof) checkLink(proof);
  if (seat) sitAt(seat, page);
  if (puzzle) void puzzles(puzzle);
  else if (day) void daily(day).then(sitDownTo);
}

/** What a table at a server does with the page. @type {import("./company/company.js").Page} */
const page = {
  sitDown,
  repaint: () => paintSeats(shownState(), namesOf(table)),
  sign(seat, text) {
    does.set(seat, text);
    say(`${namesOf(table)[seat]}: ${text}`);
    page.repaint();
  },
};

/** @type {Record<string, () => void>} */
const ACTIONS = {
  undo, again: () => void again(), fresh: () => void openNewGame(), learn: () => void lessons().then((played) => { if (played) void openNewGame(); }),
  daily: () => void daily().then(sitDownTo), solved, study: () => void studyThis(), mistakes, puzzles: () => void puzzles(), progress: () => void progress(), train: () => void training().then(sitDownTo),
  games: () => void gamesList().then(sitDownTo), load: () => byId("file").click(),
  proof: () => void proofDialog(table),
  company: () => { if (table instanceof HostedTable) void companyDialog(table); },
  side: () => byId("side").classList.toggle("shown"),
};
for (const id of ["undo", "again", "fresh", "learn", "daily", "study", "company", "proof"]) byId(id).addEventListener("click", ACTIONS[id]);
byId("side-close").addEventListener("click", ACTIONS.side);
byId("menu").addEventListener("click", async () => {
  const [name, value] = (await menu()).split(":");
  if (name === "speak") {
    speak(value);
    readHappenings();
    paint();
  } else if (name) ACTIONS[name]?.();
});
onFile(openStudy);
byId("now").addEventListener("click", () => {
  lookAt = null;
  paint();
  board.focus();
});
byId("total").addEventListener("click", () => {
  if (shownState().plays.length) tell(t("whyScore"), why(board.ends(), board.counts().reduce((sum, count) => sum + count, 0), /** @type {any} */ (table.rules)));
});
for (const eye of ["eye-moves", "eye-hidden"]) byId(eye).addEventListener("change", look);
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const away = event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") || byId("table").hidden;
  if (away || ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName)) return;
  const key = event.key.toLowerCase(), action = { u: "undo", n: "fresh", s: "study" }[key];
  if (/^[1-9]$/.test(key)) board.chooseNth(Number(key) - 1);
  else if (key === "escape") {
    board.choose(null);
    byId("side").classList.remove("shown");
  } else if (action) ACTIONS[action]();
  else return;
  event.preventDefault();
});

// --- The beginning

addEventListener("hashchange", () => {
  if (document.querySelector("dialog[open]")) return;
  try { openLinked(linked()); } catch (error) { tell(t("title"), sentenceOf(error)); }
});
onTrouble((sentence) => {
  notice = t(sentence);
  say(notice, true);
});
onChange((id) => {
  const saved = id === table.saved.id ? kept(id) : null;
  if (!saved || byId("table").hidden || String(saved.moves) === String(table.saved.moves)) return;
  for (const open of document.querySelectorAll("dialog[open]")) /** @type {HTMLDialogElement} */ (open).close("");
  sitDown(new Table(saved));
  say(t("otherTab"));
});

async function start() {
  translate();
  let asked = { deal: /** @type {Table | null} */ (null), puzzle: "", day: "", seat: "", proof: "", said: "" };
  try { asked = linked(); } catch (error) { asked.said = sentenceOf(error); }
  // What the command line asked for begins once; a reload goes on with what is played.
  const told = JSON.stringify([offer?.setup, offer?.seed]), isNew = Boolean(offer?.setup) && told !== remembered("offer", "");
  remember("offer", told);
  const last = asked.deal || isNew ? null : tableOf(kept(latest()));
  const wanted = offer?.setup ? { ...offer.setup, levels: offer.setup.levels.map(asLevel) } : { rules: "five_up", players: 4, seat: 0, levels: Array(4).fill(USUAL) };
  sitDown(asked.deal ?? last ?? new Table(begun(wanted, isNew ? offer?.seed : undefined)));
  byId("actions").inert = false; // until now a click would have been lost
  if (notice) say(notice, true);
  if (asked.said) tell(t("title"), asked.said);
  if (offer?.study) await studyFile();
  if (offer?.watch) void watch();
  openLinked(asked);
  if ("serviceWorker" in navigator && isSecureContext) navigator.serviceWorker.register("service.js").catch(() => {});
}

/** Bring in the games of `fiveup study`, and show the first. */
async function studyFile() {
  const games = (await gamesToStudy().catch(() => [])).flatMap((file) => {
    try { return gamesIn(JSON.stringify(file)); } catch { return []; }
  });
  for (const game of games) if (!kept(game.id)) put(game);
  if (games.length) openStudy(new Table(kept(games[0].id) ?? games[0]));
}

/** Show a game that goes on elsewhere, as it is kept there, until one sits down to another. */
async function watch() {
  for (let shown = "null"; ;) {
    const text = JSON.stringify(await watchedOnServer().catch(() => null));
    if (shown !== "null" && !table.saved.watched) return;
    if (text !== "null" && text !== shown) {
      const [saved] = gamesIn(text);
      run++;
      table = new Table({ ...saved, watched: true });
      lookAt = null;
      readHappenings();
      const names = namesOf(table), last = happened.at(-1);
      if (last) say(told(last, names, table.me));
      paint();
      shown = text;
    }
    await new Promise((done) => { setTimeout(done, 1000); });
  }
}

void start();
