"use strict";
// The table: shows frames one after the other, and sends what its player chooses.

const PAUSES = { deal: 900, play: 750, draw: 850, pass: 650, end: 2200, over: 400, now: 0 };
const others = "BroadcastChannel" in window ? new BroadcastChannel("fiveup") : null;

let name = null; // of the table
let state = null; // as the server sent it last
let chosen = null; // the tile that is held up
let showing = 0; // counts what is shown, so that frames of something older stop
let busy = false;
let hurry = null; // ends the pause between two frames

// --- The server

const here = (what) => `tables/${name}${what ? `/${what}` : ""}`;

// --- What is shown

function tilePicture(tile) {
  const picture = drawn("svg", { viewBox: "0 0 40 80", "aria-hidden": "true" });
  picture.append(drawn("use", { href: `#${tile === null ? "back" : `tile-${tile}`}` }));
  return picture;
}

function called(seat) {
  const partner = state.sides[seat] === state.sides[state.seat];
  const made = element("b", {}, `Seat ${seat}`);
  if (partner) made.append(element("span", { class: "more" }, ", your partner"));
  return made;
}

function showSeats(frame) {
  const count = state.players.length;
  const order = Array.from({ length: count - 1 }, (_, k) => (state.seat + 1 + k) % count);
  byId("seats").replaceChildren(...order.map((seat) => {
    const tiles = element("div", { class: "tiles" });
    for (let k = 0; k < frame.sizes[seat]; k++) tiles.append(tilePicture(null));
    const box = element(
      "div", { class: `seat${frame.turn === seat ? " turn" : ""}`, "data-seat": seat },
      element("span", { class: `dot side-${state.sides[seat]}` }),
      called(seat),
      element("small", { title: state.players[seat] },
        `${frame.sizes[seat]} tile${frame.sizes[seat] === 1 ? "" : "s"} · ${state.players[seat]}`),
      tiles,
    );
    const does = { draw: "draws", pass: "passes" }[frame.kind];
    if (does && frame.said.startsWith(`Seat ${seat} `)) {
      box.append(element("span", { class: "does" }, does));
    }
    return box;
  }));
}

function showFrame(frame) {
  if (frame.felt) byId("layout").innerHTML = frame.felt;
  if (frame.board) byId("board").innerHTML = frame.board;
  if (frame.kind === "play") {
    const tiles = byId("layout").querySelectorAll(".tile");
    if (tiles.length) tiles[tiles.length - 1].classList.add("new");
  }
  showSeats(frame);
  byId("game").textContent = `${state.rules} to ${state.target} · hand ${frame.number}`;
  byId("total").textContent = `total ${frame.total}`;
  byId("boneyard").textContent = `boneyard ${frame.boneyard}`;
  byId("mine").classList.toggle("turn", frame.turn === state.seat);
  showHand(frame.hand);
  if (frame.said) say(frame.said, frame.kind);
}

function say(text, kind) {
  byId("said").textContent = text;
  byId("said").classList.toggle("wrong", kind === "wrong");
  if (kind === "wrong" || kind === "now") return;
  byId("log").append(element("li", { class: kind }, text));
  byId("log").scrollTop = byId("log").scrollHeight;
}

function showHand(hand) {
  const focused = document.activeElement?.dataset?.held;
  byId("hand").replaceChildren(...hand.map((tile, k) => {
    const held = element("button", {
      class: "held", "data-held": tile, title: `${tile} (${k + 1})`,
      "aria-label": `${tile}, may not be set now`, "aria-pressed": "false", tabindex: k ? -1 : 0,
    }, tilePicture(tile));
    held.disabled = true;
    held.addEventListener("click", () => { if (!dragging) pick(tile); });
    held.addEventListener("pointerdown", (event) => startDrag(event, tile, held));
    return held;
  }));
  if (focused) byId("hand").querySelector(`[data-held="${focused}"]`)?.focus();
}

const pause = (milliseconds) => new Promise((done) => {
  hurry = done;
  setTimeout(done, milliseconds * Number(byId("pace").value));
});

async function show(answer, { wait = true } = {}) {
  const mine = ++showing;
  state = answer;
  chosen = null;
  closeEyes();
  byId("choices").replaceChildren();
  for (const [k, frame] of answer.frames.entries()) {
    showFrame(frame);
    const last = k === answer.frames.length - 1;
    if (wait && !last) await pause(PAUSES[frame.kind]);
    if (mine !== showing) return;
  }
  hurry = null;
  ready();
}

function ready() {
  const can = new Set(state.choices.map((choice) => choice.tile));
  for (const held of byId("hand").children) {
    held.disabled = !can.has(held.dataset.held);
    if (!held.disabled) held.setAttribute("aria-label", held.dataset.held);
  }
  const first = byId("hand").querySelector(":enabled");
  for (const held of byId("hand").children) held.tabIndex = held === first ? 0 : -1;
  byId("undo").disabled = !state.undo;
  byId("study").disabled = false;
  showChoices();
  if (state.over) return showOver();
  const typing = byId("begin").open || ["INPUT", "SELECT"].includes(document.activeElement?.tagName);
  if (first && !typing) first.focus({ preventScroll: true });
  openEyes();
}

function showOver() {
  const said = state.frames[state.frames.length - 1].said;
  byId("verdict").textContent = said || "The game is over.";
  if (!byId("over").open) byId("over").showModal();
}

// --- Choosing

const choicesOf = (tile) => state.choices.filter((choice) => choice.tile === tile);
const gainOf = (choice) => (choice.points ? `+${choice.points}` : "");

function placeOf(choice) {
  if (choice.tile === null) return choice.move === "draw" ? "Draw a tile" : "Pass";
  if (choice.end === null) return "Lead it";
  return choice.end.endsWith("x") ? `On the ${choice.end[0]} double` : `On the ${choice.end}`;
}

function pick(tile) {
  if (busy || !choicesOf(tile).length) return;
  if (chosen === tile && choicesOf(tile).length === 1) return void play(choicesOf(tile)[0]);
  hold(chosen === tile ? null : tile);
}

function hold(tile) {
  chosen = tile;
  for (const held of byId("hand").children) {
    held.classList.toggle("chosen", held.dataset.held === chosen);
    held.setAttribute("aria-pressed", String(held.dataset.held === chosen));
  }
  showChoices();
}

function showChoices() {
  const shown = state.choices.filter((choice) => choice.tile === null || choice.tile === chosen);
  byId("choices").replaceChildren(...shown.map((choice, k) => {
    const gain = choice.points ? `, ${gainOf(choice)}` : "";
    const what = choice.tile === null ? "" : `: total ${choice.total}${gain}`;
    const button = element("button", {
      class: choice.points ? "scores" : "", "data-move": choice.move, tabindex: k ? -1 : 0,
    }, placeOf(choice) + what);
    button.addEventListener("click", () => play(choice));
    return button;
  }));
  if (!shown.length && state.choices.length) byId("choices").textContent = "Choose a tile, or drag it";
  lightEnds();
}

function lightEnds() {
  for (const extra of byId("layout").querySelectorAll(".halo, .gain")) extra.remove();
  const options = chosen === null ? [] : choicesOf(chosen);
  byId("felt").classList.toggle("lead", options.some((choice) => choice.end === null));
  for (const end of byId("layout").querySelectorAll(".end")) {
    const choice = options.find((option) => option.end === end.dataset.end);
    end.classList.toggle("lit", Boolean(choice));
    end.onclick = choice ? () => play(choice) : null;
    if (!choice) continue;
    const box = end.getBBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const halo = drawn("circle", { class: "halo", cx: x, cy: y, r: 18 });
    const gain = drawn("text", {
      class: "gain", x, y: y + 6, "text-anchor": "middle", "font-size": choice.points ? 17 : 14,
    });
    gain.textContent = choice.points ? gainOf(choice) : choice.total;
    end.append(halo, gain);
  }
}

async function change(what, body) {
  if (busy || state === null) return;
  busy = true;
  byId("play").classList.add("busy");
  try {
    const answer = await ask(here(what), { ...body, version: state.version });
    others?.postMessage(name);
    free();
    await show(answer, { wait: what !== "undo" });
  } catch (error) {
    free();
    await refused(error);
  }
}

function free() {
  busy = false;
  byId("play").classList.remove("busy");
}

const play = (choice) => change("move", { move: choice.move });

async function refused(error) {
  if (error.body?.frames) await show(error.body, { wait: false });
  say(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`, "wrong");
}

// --- Dragging

let dragging = null;

function startDrag(event, tile, held) {
  if (held.disabled || busy || event.button) return;
  const from = [event.clientX, event.clientY];
  const move = (at) => {
    if (!dragging && Math.hypot(at.clientX - from[0], at.clientY - from[1]) < 8) return;
    if (!dragging) {
      hold(tile);
      dragging = tilePicture(tile);
      dragging.classList.add("dragged");
      document.body.append(dragging);
    }
    dragging.style.left = `${at.clientX - dragging.clientWidth / 2}px`;
    dragging.style.top = `${at.clientY - dragging.clientHeight / 2}px`;
  };
  const stop = (at) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", stop);
    removeEventListener("pointercancel", stop);
    if (!dragging) return;
    dragging.remove();
    const choice = at.type === "pointerup" ? droppedOn(at) : null;
    setTimeout(() => { dragging = null; }); // after the click that follows
    if (choice) play(choice);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", stop);
  addEventListener("pointercancel", stop);
}

function droppedOn(at) {
  const options = choicesOf(chosen);
  const felt = byId("felt").getBoundingClientRect();
  const inside = at.clientX > felt.left && at.clientX < felt.right
    && at.clientY > felt.top && at.clientY < felt.bottom;
  if (!inside) return null;
  if (options[0]?.end === null) return options[0];
  const near = [...byId("layout").querySelectorAll(".end.lit")].map((end) => {
    const box = end.getBoundingClientRect();
    const away = Math.hypot(
      at.clientX - box.left - box.width / 2, at.clientY - box.top - box.height / 2);
    return [away, end.dataset.end];
  }).sort((one, two) => one[0] - two[0])[0];
  return near && near[0] < 90 ? options.find((choice) => choice.end === near[1]) : null;
}

// --- The keyboard

function roam(bar, event) {
  const buttons = [...bar.querySelectorAll("button:enabled")];
  const at = buttons.indexOf(document.activeElement);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (at < 0 || !step) return;
  event.preventDefault();
  const next = buttons[(at + step + buttons.length) % buttons.length];
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next.focus();
}

byId("hand").addEventListener("keydown", (event) => roam(byId("hand"), event));
byId("choices").addEventListener("keydown", (event) => roam(byId("choices"), event));
byId("hand").addEventListener("click", (event) => {
  if (event.detail === 0 && chosen) byId("choices").querySelector("button")?.focus(); // by a key
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (["INPUT", "SELECT"].includes(event.target.tagName)) return;
  if (hurry && (event.key === " " || event.key === "Enter")) return void hurry();
  const held = byId("hand").children[Number(event.key) - 1];
  if (held && !held.disabled) {
    held.focus();
    pick(held.dataset.held);
    byId("choices").querySelector("button")?.focus();
  } else if (event.key === "Escape" && chosen) {
    byId("hand").querySelector(`[data-held="${chosen}"]`)?.focus();
    hold(null);
  } else {
    const action = { u: "undo", a: "again", n: "new", s: "study" }[event.key.toLowerCase()];
    if (action && !byId(action).disabled) byId(action).click();
  }
});

// --- Eyes

const EYES = ["moves", "chance", "hidden"];

function closeEyes() {
  for (const eye of EYES) byId(`seen-${eye}`).classList.add("busy");
}

async function openEyes() {
  byId("ask").classList.toggle("off", !byId("eye-moves").checked);
  for (const eye of EYES) {
    if (byId(`eye-${eye}`).checked) look(eye);
    else byId(`seen-${eye}`).replaceChildren();
  }
}

async function look(eye) {
  const box = byId(`seen-${eye}`);
  if (state.over || (eye === "moves" && !state.choices.length)) return box.replaceChildren();
  const version = state.version;
  box.classList.add("busy");
  if (!box.children.length) box.textContent = "thinking …";
  try {
    const found = await ask(here("eyes"), { eye, version, adviser: byId("adviser").value });
    if (version !== state.version || !byId(`eye-${eye}`).checked) return;
    box.replaceChildren(...{ moves: seenMoves, chance: seenChance, hidden: seenHidden }[eye](found));
  } catch (error) {
    if (version !== state.version || error.status === 409) return;
    box.textContent = error.message;
  }
  box.classList.remove("busy");
}

const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)} %`;

function bar(label, share, text, small) {
  const line = element("i");
  line.style.setProperty("--share", `${100 * Math.max(0, Math.min(1, share))}%`);
  const value = element("span", {}, text);
  if (small) value.append(element("small", {}, ` ${small}`));
  return element("div", { class: "bar" }, element("b", {}, label), line, value);
}

function seenMoves(found) {
  const values = found.moves.map((move) => move.value);
  const worth = found.unit === "value" ? (value) => value.toFixed(3) : (value) => percent(value);
  const low = found.unit === "value" ? Math.min(...values) : 0;
  const span = found.unit === "value" ? Math.max(...values) - low || 1 : 1;
  const error = (move) => (move.error === undefined ? ""
    : `± ${found.unit === "value" ? move.error.toFixed(3) : (100 * move.error).toFixed(1)}`);
  for (const held of byId("hand").children) {
    held.classList.toggle("best", found.moves[0].move.startsWith(held.dataset.held));
  }
  return [
    ...found.moves.map((move) =>
      bar(move.move, (move.value - low) / span, worth(move.value), error(move))),
    element("small", { class: "hint" }, `${found.unit}, by ${found.adviser}`),
  ];
}

function seenChance(found) {
  return [bar("Your side", found.value, percent(found.value), `± ${(100 * found.error).toFixed(1)}`)];
}

function seenHidden(found) {
  const head = element("tr", {}, element("th"), ...found.rows.map((row) =>
    element("th", { scope: "col" }, row.seat === null ? "boneyard" : `seat ${row.seat}`)));
  const body = found.tiles.map((tile, k) => element(
    "tr", {}, element("th", { scope: "row" }, tile),
    ...found.rows.map((row) => {
      const cell = element("td", {}, row.shares[k] ? `${Math.round(100 * row.shares[k])}` : "");
      cell.style.setProperty("--p", (0.85 * row.shares[k]).toFixed(2));
      return cell;
    })));
  const worlds = BigInt(found.worlds).toLocaleString("en");
  return [
    element("p", {}, `${worlds} world${found.worlds === "1" ? " is" : "s are"} left`),
    element("div", { class: "grid" }, element("table", {}, head, ...body)),
    element("small", { class: "hint" }, "exact, in per cent"),
  ];
}

for (const eye of EYES) byId(`eye-${eye}`).addEventListener("change", openEyes);
byId("adviser").addEventListener("change", openEyes);

// --- Beginning and ending

async function sitDown(body) {
  const answer = await ask("tables", body);
  enter(answer);
}

function enter(answer) {
  name = answer.table;
  location.hash = name;
  byId("log").replaceChildren();
  return show(answer);
}

async function begin() {
  try {
    const hash = location.hash.slice(1);
    const known = hash || (await ask("tables")).table;
    if (known) {
      name = known;
      const answer = await ask(here(""));
      location.hash = name;
      return await show(answer, { wait: false });
    }
    await sitDown({});
  } catch (error) {
    if (error.status === 404) {
      location.hash = "";
      await sitDown({}).catch(refused);
    } else await refused(error);
  }
}

async function prepare() {
  const choices = await ask("choices");
  const form = byId("begin").querySelector("form");
  const options = (values, form_) => values.map((value) => new Option(form_(value), value));
  form.rules.append(...options(choices.rules, (rule) => rule.replaceAll("_", " ")));
  form.players.append(...options(choices.players, (count) =>
    (count === 4 ? "4, as partners" : String(count))));
  byId("agents").append(...choices.agents.map((agent) => element("option", { value: agent })));
  byId("adviser").append(...options(choices.advisers, String));
  const seats = () => {
    const was = form.seat.value || String(choices.default.seat);
    form.seat.replaceChildren(...options([...Array(Number(form.players.value)).keys()], String));
    form.seat.value = was < form.players.value ? was : "0";
  };
  form.players.addEventListener("change", seats);
  form.rules.value = choices.default.rules || choices.rules[0];
  form.players.value = choices.default.players;
  form.opponents.value = choices.default.opponents;
  seats();
}

byId("begin").addEventListener("close", async () => {
  const form = byId("begin").querySelector("form");
  if (byId("begin").returnValue !== "deal") return;
  try {
    await sitDown({
      rules: form.rules.value, players: Number(form.players.value),
      seat: Number(form.seat.value), opponents: form.opponents.value.trim(),
    });
  } catch (error) {
    byId("begin-error").textContent = error.message;
    byId("begin").showModal();
  }
});

async function study() {
  if (!state.over && !confirm("Give up this game and study it?")) return;
  try {
    const answer = await ask(here("study"), { version: state.version });
    location.href = `/study#${answer.study}`;
  } catch (error) { await refused(error); }
}

const openDialog = () => { byId("begin-error").textContent = ""; byId("begin").showModal(); };
byId("over").addEventListener("close", () => {
  ({ study, again: () => change("again"), new: openDialog })[byId("over").returnValue]?.();
});
byId("new").addEventListener("click", openDialog);
byId("undo").addEventListener("click", () => change("undo"));
byId("again").addEventListener("click", () => change("again"));
byId("study").addEventListener("click", study);
byId("felt").addEventListener("click", () => {
  if (hurry) return hurry();
  const lead = chosen === null ? undefined : choicesOf(chosen).find((choice) => choice.end === null);
  if (lead) play(lead);
});
byId("pace").value = localStorage.getItem("pace") || "1";
byId("pace").addEventListener("change", () => localStorage.setItem("pace", byId("pace").value));
const lookAgain = async () => {
  if (name && !busy && !hurry) {
    const answer = await ask(here("")).catch(() => null);
    if (answer && answer.version !== state?.version) await show(answer, { wait: false });
  }
};
others?.addEventListener("message", (event) => { if (event.data === name) lookAgain(); });
addEventListener("hashchange", () => { if (location.hash.slice(1) !== name) begin(); });
narrow.addEventListener("change", () => {
  if (name && !busy) ask(here("")).then((answer) => show(answer, { wait: false }), refused);
});

prepare().then(begin).catch(refused);
