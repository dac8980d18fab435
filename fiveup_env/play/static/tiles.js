// @ts-check
/** Tiles and the felt as SVG, in the colours of the style sheet. */

/** @typedef {import("./fiveup.mjs").PlacedTile} PlacedTile */
/** @typedef {import("./fiveup.mjs").Mark} Mark */
/** @typedef {ReturnType<typeof import("./fiveup.mjs").layout>} Layout */

const ONE = [[0, 0]], TWO = [[1, -1], [-1, 1]], FOUR = [[-1, -1], [1, -1], [-1, 1], [1, 1]];
// Where the pips of an upright half lie, in steps from its middle.
const SPOTS = [[], ONE, TWO, [...ONE, ...TWO], FOUR, [...ONE, ...FOUR], [...FOUR, [-1, 0], [1, 0]]];

/**
 * Return the shapes of a tile whose corner is at x, y, in cells of half its width.
 * @param {number[]} halves @param {number} x @param {number} y @param {boolean} upright @param {boolean} [pin]
 */
export function tileShapes(halves, x, y, upright, pin = false) {
  const [width, height] = upright ? [2, 4] : [4, 2], middle = [x + width / 2, y + (height - 0.12) / 2];
  const [long, thin] = upright ? [1.5, 0.1] : [0.1, 1.5];
  const dots = halves.map((pip, half) => SPOTS[pip].map(([column, row]) => {
    const along = row + (half ? 1 : -1) * 1.92;
    const [dx, dy] = upright ? [0.52 * column, 0.5 * along] : [0.52 * along, -0.5 * column];
    return `M${(middle[0] + dx).toFixed(2)} ${(middle[1] + dy).toFixed(2)}h0`;
  }).join(""));
  return `<rect class="edge" x="${x + 0.05}" y="${y + 0.17}" width="${width - 0.1}" height="${height - 0.22}" rx=".35"/>`
    + `<rect class="face" x="${x + 0.05}" y="${y + 0.05}" width="${width - 0.1}" height="${height - 0.22}" rx=".35"/>`
    + `<rect class="bar" x="${middle[0] - long / 2}" y="${middle[1] - thin / 2}" width="${long}" height="${thin}"/>`
    + dots.map((path, half) => (path ? `<path class="pips pips-${halves[half]}" d="${path}"/>` : "")).join("")
    + (pin ? `<path class="pin" d="M${middle[0]} ${middle[1]}h0"/>` : "");
}

/** Return an upright tile as a picture of its own. @param {string} tile */
export const tileSvg = (tile) => `<svg viewBox="0 0 2 4" aria-hidden="true">${tileShapes(tile.split("-").map(Number), 0, 0, true)}</svg>`;
export const backSvg = `<svg viewBox="0 0 2 4" aria-hidden="true"><rect class="edge" x=".05" y=".1" width="1.9" height="3.8" rx=".35"/><rect class="back" x=".05" y=".05" width="1.9" height="3.7" rx=".35"/></svg>`;

/** The end that a move goes on, as marks name it: `5`, `5x` for the double. @param {Mark} mark */
export const endOf = (mark) => `${mark.pip}${mark.kind === "plain" ? "" : "x"}`;

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.codePointAt(0)};`);

/** @param {number[]} one @param {number[]} two boxes, of which one that is 0 wide stands for none */
function around(one, two) {
  if (!two[2]) return one;
  const [left, top] = [Math.min(one[0], two[0]), Math.min(one[1], two[1])];
  return [left, top, Math.max(one[0] + one[2], two[0] + two[2]) - left, Math.max(one[1] + one[3], two[1] + two[3]) - top];
}

/**
 * Return the felt: tiles, marks, and what a chosen tile would bring at each.
 * @param {Layout | null} placed @param {number} shown tiles @param {{ columns: number, rows: number, title: string, fresh: boolean, rise: string, lit: Map<string, { text: string, scores: boolean }>, ghost?: import("./study/better.js").Ghost | null, from?: number }} options `ghost` could have been set; tiles `from` a number on were not
 */
export function feltSvg(placed, shown, { columns, rows, title, fresh, rise, lit, ghost = null, from = Infinity }) {
  const [left, top, width, height] = around(placed?.extent ?? [0, 0, 0, 0], ghost?.box ?? [0, 0, 0, 0]);
  const wide = Math.max(columns, width + 1), high = Math.max(rows, height + 1);
  const x = left + width / 2 - wide / 2, y = top + height / 2 - high / 2;
  const parts = [`<svg viewBox="${x} ${y} ${wide} ${high}" role="img" aria-label="${escaped(title)}">`];
  if (placed) {
    const tiles = placed.tiles.slice(0, shown);
    for (const { link, direction } of tiles) {
      if (!link) continue;
      const [dx, dy] = direction % 2 ? [0.8, 0] : [0, 0.8];
      parts.push(`<rect class="link" x="${link[0] + dx}" y="${link[1] + dy}" width="${link[2] - 2 * dx}" height="${link[3] - 2 * dy}"/>`);
    }
    const last = tiles[tiles.length - 1];
    for (const [k, tile] of tiles.entries()) {
      const is = tile === last;
      if (is) parts.push(`<rect class="glow" x="${tile.box[0] - 0.16}" y="${tile.box[1] - 0.16}" width="${tile.box[2] + 0.32}" height="${tile.box[3] + 0.32}" rx=".5"/>`);
      parts.push(`<g class="tile${is && fresh ? " new" : ""}${k >= from ? " ghost" : ""}" data-tile="${tile.tile}" data-arm="${tile.arm}">${tileShapes(tile.halves, tile.box[0], tile.box[1], tile.upright, tile.spins)}</g>`);
    }
    for (const mark of placed.marks) {
      const end = endOf(mark), [cx, cy] = [mark.box[0] + mark.box[2] / 2, mark.box[1] + mark.box[3] / 2], light = lit.get(end);
      const counts = mark.kind === "cross" || mark.counts < mark.pip ? "" : String(mark.counts);
      const label = light ? light.text : counts;
      parts.push(`<g class="end${light ? " lit" : ""}${light?.scores ? " scores" : ""}" data-end="${end}" data-arm="${mark.arm}">`
        + `<circle cx="${cx}" cy="${cy}" r="${light ? 1.05 : counts ? 0.66 : 0.42}"/>`
        + (label ? `<text x="${cx}" y="${cy + 0.3}">${label}</text>` : `<path class="point" d="M${cx} ${cy}h0"/>`) + "</g>");
    }
    if (ghost) parts.push(`<g class="ghost">${tileShapes(ghost.halves, ghost.box[0], ghost.box[1], ghost.upright)}<text x="${ghost.box[0] + ghost.box[2]}" y="${ghost.box[1] + 0.4}">★</text></g>`);
    if (rise && last) parts.push(`<text class="rise" x="${last.box[0] + last.box[2] / 2}" y="${last.box[1] - 0.4}">${rise}</text>`);
  }
  return `${parts.join("")}</svg>`;
}
