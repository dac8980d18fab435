// @ts-check
/** Curves that grow: win rates over what was learnt, each with its interval as a band. */
import { element } from "../shared.js";
import { decimal, percent, t } from "../words.js";

/** @typedef {{ name: string, points: { at: number, rate: import("./session.js").Rate }[] }} Curve */

const WIDTH = 320, HEIGHT = 150, LEFT = 30, RIGHT = 312, TOP = 8, BOTTOM = 128;

/** Return a chart of curves, with dashed lines where players of one strength would be. @param {Curve[]} curves @param {number[]} even */
export function chart(curves, even) {
  const most = Math.max(1, ...curves.flatMap(({ points }) => points.map(({ at }) => at)));
  const x = (/** @type {number} */ at) => (LEFT + (RIGHT - LEFT) * at / most).toFixed(1), y = (/** @type {number} */ share) => (BOTTOM - (BOTTOM - TOP) * share).toFixed(1);
  const line = (/** @type {number} */ share, kind = "") => `<line x1="${LEFT}" x2="${RIGHT}" y1="${y(share)}" y2="${y(share)}" class="${kind}"/>`;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => `${line(share)}<text x="${LEFT - 4}" y="${Number(y(share)) + 3}">${decimal(100 * share)}</text>`);
  const drawn = curves.flatMap(({ points }, k) => {
    if (!points.length) return [];
    const upper = points.map(({ at, rate }) => `${x(at)} ${y(rate.high)}`), lower = points.map(({ at, rate }) => `${x(at)} ${y(rate.low)}`).reverse();
    const path = points.map(({ at, rate }) => `${x(at)} ${y(rate.mean)}`).join("L"), { at, rate } = points[points.length - 1];
    return [`<path class="band curve-${k}" d="M${[...upper, ...lower].join("L")}Z"/><path class="curve-${k}" d="M${path}"/><circle class="curve-${k}" cx="${x(at)}" cy="${y(rate.mean)}" r="3"/>`];
  });
  const said = curves.map(({ name, points }) => `${name}: ${points.map(({ rate }) => percent(rate.mean)).join("; ")}`).join(". ");
  const made = element("div", { class: "chart training" }), legend = element("p", { class: "legend" });
  made.innerHTML = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${ticks.join("")}${even.map((share) => line(share, "even")).join("")}${drawn.join("")}<text x="${RIGHT}" y="${HEIGHT - 8}">${t("trainDecisions", { count: decimal(most === 1 ? 0 : most) })}</text></svg>`;
  made.firstElementChild?.setAttribute("aria-label", said);
  legend.append(...curves.map(({ name }, k) => element("span", { class: `key-${k}` }, name)));
  made.append(legend);
  return made;
}
