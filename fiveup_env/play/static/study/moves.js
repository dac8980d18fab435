// @ts-check
/** The moves of a studied game in words: each leads to its moment, and the current one is seen. */
import { element } from "../shared.js";

/** @param {HTMLElement} list @param {{ text: string, move: boolean }[]} moments @param {(moment: number) => void} go */
export function listMoves(list, moments, go) {
  list.replaceChildren(...moments.map(({ text, move }, k) => {
    const button = element("button", {}, text);
    button.addEventListener("click", () => go(k));
    return element("li", { class: move ? "" : "end" }, button);
  }));
}

/** Show which moment is seen. @param {HTMLElement} list @param {number} at */
export function markMoment(list, at) {
  const was = list.querySelector("[aria-current]"), line = /** @type {HTMLElement} */ (list.children[at]);
  was?.removeAttribute("aria-current");
  was?.parentElement?.classList.remove("here");
  line.classList.add("here");
  line.firstElementChild?.setAttribute("aria-current", "true");
  list.scrollTop = line.offsetTop - (list.clientHeight - line.offsetHeight) / 2;
}

/** Say beside a moment what was better. @param {HTMLElement} list @param {number} at @param {string} sentence */
export function markMistake(list, at, sentence) {
  const button = /** @type {Element} */ (list.children[at].firstElementChild);
  if (!button.querySelector("span")) button.append(" ", element("span", { class: "lost" }, sentence));
}
