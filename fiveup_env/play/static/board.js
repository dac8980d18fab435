// @ts-check
/** The felt, a hand and the choices for a tile: by mouse, by touch, by keyboard. */
import { layout } from "./fiveup.mjs";
import { backSvg, feltSvg, tileSvg } from "./tiles.js";
import { listText, t } from "./words.js";

/** @typedef {{ move: string, total: number, points: number }} Choice */
/** @typedef {{ plays: string[], shown?: number, arms: (number | null)[], spinners: string, hand: string[], choices: Choice[], total: number, best?: string, rise?: string }} Scene */

/** @param {string} move */
const tileIn = (move) => (move.includes("-") ? move.split("@")[0] : null);
/** @param {string} move */
const endIn = (move) => move.split("@")[1] ?? null;
const DRAGGED = 8; // pixels from which on a tile is dragged, and not tapped

export class Board {
  /** @type {Scene | null} */ #scene = null;
  /** @type {string | null} */ chosen = null;
  #shown = 0;
  #asked = ""; // what was placed last
  #placed = /** @type {import("./tiles.js").Layout | null} */ (null);

  /** @param {{ felt: HTMLElement, hand: HTMLElement, choices: HTMLElement }} places @param {(move: string, arm: number | null) => void} onMove */
  constructor(places, onMove) {
    this.places = places;
    this.onMove = onMove;
    places.felt.addEventListener("click", (event) => this.#feltClicked(/** @type {Element} */ (event.target)));
    for (const row of [places.hand, places.choices]) row.addEventListener("keydown", (event) => this.#arrows(event, row));
    new ResizeObserver(() => this.#paintFelt(false)).observe(places.felt);
    new ResizeObserver(() => this.#fitHand()).observe(places.hand);
  }

  /** Show a scene; without choices, nothing can be played. @param {Scene} scene */
  show(scene) {
    const had = this.places.hand.contains(document.activeElement) || this.places.choices.contains(document.activeElement);
    const fresh = (scene.shown ?? scene.plays.length) === this.#shown + 1;
    this.#scene = scene;
    this.chosen = null;
    this.#paintHand();
    this.#paintFelt(fresh);
    this.#paintChoices();
    if (had && scene.choices.length) this.focus();
  }

  focus() {
    const first = this.places.hand.querySelector("button:not([aria-disabled=true])") ?? this.places.choices.querySelector("button");
    /** @type {HTMLElement | null} */ (first)?.focus({ preventScroll: true });
  }

  /** @param {string | null} tile */
  choose(tile) {
    if (tile !== null && !this.#choicesOf(tile).length) return;
    this.chosen = tile;
    for (const button of this.places.hand.children) {
      const is = button.getAttribute("data-tile") === tile;
      button.classList.toggle("chosen", is);
      button.setAttribute("aria-pressed", String(is));
    }
    this.#paintFelt(false);
    this.#paintChoices();
  }

  /** Choose the n-th tile of the hand. @param {number} n */
  chooseNth(n) {
    const button = /** @type {HTMLElement | undefined} */ (this.places.hand.children[n]);
    if (!button) return;
    const tile = button.getAttribute("data-tile");
    button.focus({ preventScroll: true });
    this.choose(tile);
    if (this.#choicesOf(tile).length) this.#focusChoice();
  }

  /** The first place where the chosen tile fits: Enter sets it there. */
  #focusChoice() {
    /** @type {HTMLElement | null} */ (this.places.choices.querySelector("button"))?.focus({ preventScroll: true });
  }

  /** @param {string | null} tile */
  #choicesOf(tile) {
    return (this.#scene?.choices ?? []).filter(({ move }) => tileIn(move) === tile);
  }

  #paintHand() {
    const { hand, choices, best } = /** @type {Scene} */ (this.#scene);
    this.places.hand.replaceChildren(...hand.map((tile) => {
      const button = document.createElement("button"), free = choices.some(({ move }) => tileIn(move) === tile);
      button.className = `held${best && tileIn(best) === tile ? " best" : ""}`;
      button.innerHTML = tile === "?" ? backSvg : tileSvg(tile);
      button.dataset.tile = tile;
      button.setAttribute("aria-label", tile);
      button.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-disabled", String(!free));
      button.addEventListener("pointerdown", (event) => this.#drag(event, tile));
      button.addEventListener("click", (event) => { if (event.detail === 0) this.#tapped(tile); });
      return button;
    }));
    this.#fitHand();
  }

  /** Give the tiles the size in which all of them fit, in one row or more. */
  #fitHand() {
    const place = this.places.hand, count = place.children.length, gap = 6;
    const width = place.clientWidth - 8, height = place.clientHeight - 10;
    if (!count || width <= 0 || height <= 0) return;
    let best = 0;
    for (let rows = 1; rows <= 3; rows++) {
      const across = width / Math.ceil(count / rows) - gap, down = (height / rows - gap) / 2;
      best = Math.max(best, Math.min(across, down));
    }
    place.style.setProperty("--tile", `${Math.floor(best)}px`);
  }

  /** A second tap plays a tile that fits at one end only. @param {string} tile */
  #tapped(tile) {
    const choices = this.#choicesOf(tile);
    if (this.chosen !== tile) {
      this.choose(tile);
      if (choices.length) this.#focusChoice();
    } else if (choices.length === 1) this.onMove(choices[0].move, null);
    else this.choose(null);
  }

  /** @param {PointerEvent} begun @param {string} tile */
  #drag(begun, tile) {
    if (begun.button !== 0) return;
    const button = /** @type {HTMLElement} */ (begun.currentTarget);
    /** @type {HTMLElement | null} */
    let ghost = null;
    const was = this.chosen === tile;
    button.setPointerCapture(begun.pointerId);
    const move = (/** @type {PointerEvent} */ event) => {
      if (!ghost && Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) < DRAGGED) return;
      if (!ghost && !this.#choicesOf(tile).length) return;
      if (!ghost) {
        this.choose(tile);
        ghost = document.createElement("div");
        ghost.className = "dragged";
        ghost.innerHTML = tileSvg(tile);
        ghost.style.width = `${button.clientWidth}px`;
        document.body.append(ghost);
        button.classList.add("away");
      }
      ghost.style.transform = `translate(${event.clientX - button.clientWidth / 2}px, ${event.clientY - button.clientHeight / 2}px)`;
    };
    const end = (/** @type {PointerEvent} */ event) => {
      button.removeEventListener("pointermove", move);
      button.classList.remove("away");
      ghost?.remove();
      if (event.type === "pointercancel") return;
      if (!ghost) {
        if (was) this.#tapped(tile);
        else this.choose(tile);
        return;
      }
      const under = document.elementFromPoint(event.clientX, event.clientY);
      if (under && this.places.felt.contains(under)) this.#dropped(under, event, tile);
    };
    button.addEventListener("pointermove", move);
    button.addEventListener("pointerup", end, { once: true });
    button.addEventListener("pointercancel", end, { once: true });
  }

  /** A tile that is dropped on the felt goes to the nearest end where it fits. @param {Element} under @param {PointerEvent} at @param {string} tile */
  #dropped(under, at, tile) {
    if (under.closest(".end.lit")) return this.#feltClicked(under);
    const choices = this.#choicesOf(tile), lit = [...this.places.felt.querySelectorAll(".end.lit")];
    const far = (/** @type {Element} */ end) => {
      const { left, top, width, height } = end.getBoundingClientRect();
      return Math.hypot(left + width / 2 - at.clientX, top + height / 2 - at.clientY);
    };
    const nearest = lit.sort((one, two) => far(one) - far(two))[0];
    if (nearest) this.#feltClicked(nearest);
    else if (choices.length) this.onMove(choices[0].move, null);
  }

  /** @param {Element} target */
  #feltClicked(target) {
    if (this.chosen === null) return;
    const choices = this.#choicesOf(this.chosen), end = /** @type {HTMLElement | null} */ (target.closest(".end.lit"));
    if (end) {
      const choice = choices.find(({ move }) => endIn(move) === end.dataset.end);
      if (choice) this.onMove(choice.move, Number(end.dataset.arm));
    } else if (choices.length === 1 && endIn(choices[0].move) === null) this.onMove(choices[0].move, null);
  }

  /** @param {boolean} fresh */
  #paintFelt(fresh) {
    const scene = this.#scene, { felt } = this.places;
    if (!scene || !felt.clientWidth) return;
    const across = felt.clientWidth / Math.max(1, felt.clientHeight);
    const columns = Math.max(16, Math.min(34, Math.round(12 * across)));
    const width = across > 1.7 ? 46 : across > 1 ? 32 : 22;
    const shown = scene.shown ?? scene.plays.length;
    const asked = JSON.stringify([scene.plays, scene.spinners, width, shown, scene.arms]);
    if (asked !== this.#asked) this.#placed = scene.plays.length ? layout(scene.plays, { spinners: scene.spinners, width, shown, arms: scene.arms }) : null;
    this.#asked = asked;
    /** @type {Map<string, { text: string, scores: boolean }>} */
    const lit = new Map();
    for (const { move, total, points } of this.chosen === null ? [] : this.#choicesOf(this.chosen)) {
      const end = endIn(move);
      if (end) lit.set(end, { text: points ? t("plus", { points }) : String(total), scores: points > 0 });
    }
    felt.innerHTML = feltSvg(this.#placed, shown, {
      columns, rows: Math.round(columns / across), title: shown ? this.endsText() : t("emptyFelt"), fresh, rise: fresh ? scene.rise ?? "" : "", lit,
    });
    felt.classList.toggle("lead", this.chosen !== null && shown === 0);
    this.#shown = shown;
  }

  /** The open ends in words. */
  ends() {
    /** @type {Set<number>} */
    const doubles = new Set();
    return (this.#placed?.marks ?? []).flatMap((mark) => {
      if (mark.kind === "plain") return [t("endPlain", { pip: mark.pip })];
      if (doubles.has(mark.tile)) return [];
      doubles.add(mark.tile);
      return [t("endDouble", { pip: mark.pip, counts: mark.counts })];
    });
  }

  /** What the open ends count, without those that add nothing. */
  counts() {
    return (this.#placed?.marks ?? []).map(({ counts }) => counts).filter((count) => count > 0);
  }

  endsText() {
    return t("openEnds", { ends: listText(this.ends()), total: this.#scene?.total ?? 0 });
  }

  #paintChoices() {
    const scene = /** @type {Scene} */ (this.#scene);
    const choices = scene.choices.filter(({ move }) => tileIn(move) === this.chosen || tileIn(move) === null);
    this.places.choices.replaceChildren(...choices.map(({ move, total, points }) => {
      const button = document.createElement("button"), end = endIn(move), pip = end?.[0] ?? "";
      const name = !end ? t(tileIn(move) ? "lead" : move) : t(end.endsWith("x") ? "toDouble" : "toEnd", { pip, total });
      button.textContent = points ? `${name} ${t("plus", { points })}` : name;
      button.className = points ? "scores" : "";
      button.dataset.move = move;
      button.addEventListener("click", () => this.onMove(move, null));
      return button;
    }));
  }

  /** @param {KeyboardEvent} event @param {HTMLElement} row */
  #arrows(event, row) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const all = [...row.children], at = all.indexOf(/** @type {Element} */ (document.activeElement));
    /** @type {HTMLElement} */ (all[(at + step + all.length) % all.length])?.focus({ preventScroll: true });
    event.preventDefault();
  }
}
