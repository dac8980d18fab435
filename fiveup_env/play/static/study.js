"use strict";
// A study: the game move by move, with what every decision was worth. It needs no server.

const study = (() => {
  let about = null; // the moments of the game
  let verdicts = null; // what they were worth, once that is known
  let parts = []; // of the pictures, by moment
  let now = 0;

  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const within = ([, low, high], form) => (low === null ? "" : `${form(low)} .. ${form(high)}`);
  const plain = (value) => (100 * value).toFixed(1);
  const points = (value) => value.toFixed(2);

  // --- The game

  function open(data) {
    about = data;
    verdicts = null;
    now = 0;
    byId("board").innerHTML = about.board;
    byId("layout").innerHTML = about.felt;
    byId("title").textContent = `${about.rules} · ${about.title}`;
    document.title = `Five Up: ${about.title}`;
    parts = about.moments.map(() => []);
    for (const part of document.querySelectorAll("#board [data-on], #layout [data-on]")) {
      part.style.display = "none";
      for (const span of part.dataset.on.split(" ")) {
        const [from, to = from] = span.split("-").map(Number);
        for (let k = from; k <= to; k++) parts[k].push(part);
      }
    }
    byId("seer").replaceChildren(...about.names.map((name, seat) =>
      new Option(name.startsWith("seat") ? name : `seat ${seat} (${name})`, seat)));
    const own = about.names.indexOf("you");
    byId("seer").value = Math.max(0, own);
    for (const id of ["play", "verdicts"]) byId(id).hidden = false;
    byId("judging").hidden = false;
    for (const id of ["graph", "rates", "luck", "verdict-of"]) byId(id).replaceChildren();
    show(0);
  }

  function judged(found) {
    verdicts = found;
    byId("judging").hidden = true;
    showRates();
    showLuck();
    drawGraph();
    show(now);
  }

  function show(moment) {
    for (const part of parts[now] || []) part.style.display = "none";
    now = Math.max(0, Math.min(about.moments.length - 1, moment));
    for (const part of parts[now]) part.style.display = "";
    const at = about.moments[now];
    byId("said").textContent = at.line;
    byId("hand-number").textContent = `hand ${at.hand}`;
    byId("boneyard").textContent = `boneyard ${at.boneyard}`;
    byId("racks").replaceChildren(...at.hands.map((hand, seat) => {
      const tiles = element("div", { class: "tiles" });
      for (const tile of hand) {
        const picture = drawn("svg", { viewBox: "0 0 40 80", role: "img", "aria-label": tile });
        picture.append(drawn("use", { href: `#tile-${tile}` }));
        tiles.append(picture);
      }
      return element(
        "div", { class: `seat${at.turn === seat ? " turn" : ""}` },
        element("span", { class: `dot side-${about.sides[seat]}` }),
        element("b", {}, `Seat ${seat}`),
        ...(about.names[seat] === `seat ${seat}` ? [] : [element("small", {}, about.names[seat])]),
        tiles,
      );
    }));
    byId("first").disabled = byId("back").disabled = now === 0;
    byId("last").disabled = byId("forward").disabled = now === about.moments.length - 1;
    showVerdict();
    moveMarker();
  }

  // --- The verdicts

  const decisionAt = (moment) => verdicts?.decisions.find((one) => one.moment === moment);

  function showVerdict() {
    const box = byId("verdict-of");
    const decision = decisionAt(now);
    box.hidden = !verdicts;
    if (!verdicts) return;
    if (!decision) {
      return box.replaceChildren(element("h2", {}, "This moment"),
        element("p", {}, "Nobody had a choice here."));
    }
    const lost = decision.chance[0];
    const verdict = decision.move === decision.best
      ? element("p", { class: "kept" }, `${decision.move} is the best move`)
      : element("p", { class: decision.mistake ? "lost" : "" },
        `${decision.move} lost ${percent(Math.max(0, lost))} of the chance to win`);
    const text = decision.move === decision.best ? [] : [
      element("p", {}, `${within(decision.chance, plain)} in per cent; ${points(decision.points[0])} `
        + `points (${within(decision.points, points)}). Best: ${decision.best}.`),
    ];
    const rows = decision.options.map((option) => {
      const line = element("i");
      line.style.setProperty("--share", `${100 * option.chance[0]}%`);
      const value = element("span", {}, percent(option.chance[0]));
      const half = (option.chance[2] - option.chance[1]) / 2;
      value.append(element("small", {}, ` ± ${plain(half)}`));
      return element("div", { class: `bar${option.move === decision.move ? " made" : ""}` },
        element("span", {}, option.move), line, value);
    });
    box.replaceChildren(
      element("h2", {}, `Seat ${decision.seat} decides`), verdict, ...text,
      element("div", { class: "seen" }, ...rows),
      element("small", { class: "hint" }, `the chance to win, by ${verdicts.reference}; 95 %`));
  }

  function table(heads, rows) {
    const cells = (row, tag) => element("tr", {}, ...row.map((cell) => element(tag, {}, cell)));
    return element("table", { class: "figures" },
      element("thead", {}, cells(heads, "th")),
      element("tbody", {}, ...rows.map((row) => cells(row, "td"))));
  }

  const seatName = (seat) => (about.names[seat] === `seat ${seat}`
    ? about.names[seat] : `${seat} ${about.names[seat]}`);

  function showRates() {
    const hundredths = (value) => (100 * value).toFixed(2);
    const loss = (estimate, form) => {
      if (estimate[0] === null) return "-";
      const range = within(estimate, form);
      return form(estimate[0]) + (range ? ` (${range})` : "");
    };
    byId("rates").replaceChildren(
      table(["", "mistakes", "loss (%)", "points"], verdicts.rates.map((rate) => [
        seatName(rate.seat), `${rate.mistakes} of ${rate.decisions}`,
        loss(rate.chance, hundredths), rate.points[0] === null ? "-" : points(rate.points[0]),
      ])),
      element("small", { class: "hint" }, "the mean loss of a decision with a choice; 95 %, by hands"));
  }

  function showLuck() {
    const side = about.sides[Number(byId("seer").value)];
    const seats = about.sides.flatMap((own, seat) => (own === side ? [seat] : []));
    const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(1)}`;
    const sum = (what) => verdicts.luck.reduce((all, hand) => all + hand[what][side], 0);
    byId("luck").replaceChildren(table(["", "luck", "skill"], [
      [`seat${seats.length > 1 ? "s" : ""} ${seats.join(" and ")}, in all`,
        signed(sum("luck")), signed(sum("skill"))],
      ...verdicts.luck.map((hand) => [
        `hand ${hand.hand}`, signed(hand.luck[side]), signed(hand.skill[side]),
      ]),
    ]),
    element("small", { class: "hint" }, "per cent of the chance to win: what a deal was worth to a "
      + "reference player, and what was made of it"));
  }

  // --- The graph

  const WIDTH = 420, HEIGHT = 190, LEFT = 34, RIGHT = 8, TOP = 8, FOOT = 20;
  const x = (moment) => LEFT + (WIDTH - LEFT - RIGHT) * moment / Math.max(1, about.moments.length - 1);
  const y = (chance) => TOP + (HEIGHT - TOP - FOOT) * (1 - chance);

  function drawGraph() {
    const seat = Number(byId("seer").value);
    const picture = drawn("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
      "aria-label": "The chance to win over the game; the arrow keys go through it",
    });
    for (const chance of [0, 0.5, 1]) {
      picture.append(drawn("line", { class: "even", x1: LEFT, x2: WIDTH - RIGHT, y1: y(chance), y2: y(chance) }));
      const label = drawn("text", { x: LEFT - 4, y: y(chance) + 4, "text-anchor": "end" });
      label.textContent = `${100 * chance}`;
      picture.append(label);
    }
    about.moments.forEach((moment, k) => {
      if (!k || moment.hand === about.moments[k - 1].hand) return;
      picture.append(drawn("line", { class: "hand", x1: x(k), x2: x(k), y1: TOP, y2: HEIGHT - FOOT }));
    });
    const line = verdicts.chances.map((chance, k) => `${x(k).toFixed(1)} ${y(chance[seat]).toFixed(1)}`);
    picture.append(
      drawn("path", { class: "area", d: `M${x(0)} ${y(0)}L${line.join("L")}L${x(line.length - 1)} ${y(0)}Z` }),
      drawn("path", { class: "curve", d: `M${line.join("L")}` }));
    for (const decision of verdicts.decisions.filter((one) => one.mistake)) {
      const chance = verdicts.chances[decision.moment][seat];
      picture.append(drawn("circle", { class: "mistake", cx: x(decision.moment), cy: y(chance), r: 3.5 }));
    }
    const foot = drawn("text", { x: LEFT, y: HEIGHT - 5 });
    foot.textContent = "● a mistake, of any seat; dashes part the hands";
    picture.append(foot, drawn("line", { class: "now", y1: TOP, y2: HEIGHT - FOOT }));
    picture.addEventListener("pointerdown", (event) => {
      const box = picture.getBoundingClientRect();
      const share = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
      show(Math.round(share * (about.moments.length - 1)));
    });
    byId("graph").replaceChildren(picture);
    moveMarker();
  }

  function moveMarker() {
    const marker = byId("graph").querySelector(".now");
    if (!marker) return;
    marker.setAttribute("x1", x(now));
    marker.setAttribute("x2", x(now));
  }

  // --- Going through it

  const mistakes = () => (verdicts ? verdicts.decisions.filter((one) => one.mistake) : []);
  const actions = {
    first: () => show(0),
    back: () => show(now - 1),
    forward: () => show(now + 1),
    last: () => show(about.moments.length - 1),
    "next-mistake": () => {
      const found = mistakes();
      const next = found.find((one) => one.moment > now) || found[0];
      if (next) show(next.moment);
    },
    biggest: () => {
      const found = mistakes().sort((one, two) => two.chance[0] - one.chance[0]);
      if (found.length) show(found[0].moment);
    },
  };
  const keys = {
    Home: "first", ArrowLeft: "back", ArrowRight: "forward", End: "last", m: "next-mistake", b: "biggest",
  };
  for (const id in actions) byId(id).addEventListener("click", actions[id]);
  document.addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT"].includes(event.target.tagName);
    if (!about || typing || event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
    event.preventDefault();
    actions[keys[event.key]]();
  });
  byId("seer").addEventListener("change", () => {
    if (!verdicts) return;
    drawGraph();
    showLuck();
  });

  return {
    open, judged, show,
    progress: (share) => { byId("progress").value = share; },
    move: () => about.moments[now].move,
  };
})();

const embedded = JSON.parse(byId("data").textContent);
if (embedded) {
  study.open(embedded.about);
  study.judged(embedded.verdicts);
}
