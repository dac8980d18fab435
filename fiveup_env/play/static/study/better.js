// @ts-check
/** The better move on the felt, beside the one that was made, and how the hand could go on after it. */
import { agent, info } from "../fiveup.mjs";
import { keyOf } from "../levels.js";
import { endOf } from "../tiles.js";

/** @typedef {import("../fiveup.mjs").Game} Game */
/** @typedef {import("../fiveup.mjs").Box} Box */
/** @typedef {{ box: Box, halves: number[], upright: boolean }} Ghost a tile that was not set */

/** @param {Box} one @param {Box} two */
const meet = (one, two) => one[0] < two[0] + two[2] && two[0] < one[0] + one[2] && one[1] < two[1] + two[3] && two[1] < one[1] + one[3];

/**
 * Return where a better move lies: at its end, or beside the tile that was set there.
 * @param {string} better @param {import("../fiveup.mjs").Mark[]} marks before the move @param {Box[]} boxes of all tiles, the one that was set last
 * @returns {Ghost}
 */
export function ghostOf(better, marks, boxes) {
  const [tile, end] = better.split("@"), [high, low] = tile.split("-").map(Number), set = boxes[boxes.length - 1];
  const places = marks.filter((mark) => endOf(mark) === end).map(({ box: [x, y, wide, deep], direction }) => {
    const across = direction % 2 === 1, upright = across !== (high === low), [width, height] = upright ? [2, 4] : [4, 2];
    const left = across ? x + (wide - width) / 2 : direction ? x + wide - width : x, top = across ? (direction === 1 ? y : y + deep - height) : y + (deep - height) / 2;
    const near = Number(end[0]), far = high + low - near;
    return { box: /** @type {Box} */ ([left, top, width, height]), halves: direction < 2 ? [near, far] : [far, near], upright };
  });
  const free = places.find(({ box }) => !boxes.some((other) => meet(box, other)));
  if (free) return free;
  const { halves, upright } = places[0] ?? { halves: [high, low], upright: true }, [width, height] = upright ? [2, 4] : [4, 2];
  const [x, y, wide, deep] = set, beside = /** @type {Box[]} */ ([
    [x, y - height - 1, width, height], [x, y + deep + 1, width, height], [x + wide + 1, y, width, height], [x - width - 1, y, width, height],
  ]);
  return { box: beside.find((box) => !boxes.some((other) => meet(box, other))) ?? beside[0], halves, upright };
}

/**
 * Play a hand out from a move, as the judge does, all tiles as they lie; return the steps.
 * @param {Game} game @param {number} number of the move that is replaced @param {string} move
 */
export function playedOut(game, number, move) {
  const twin = game.copy(), player = agent(info.judge.playout);
  while (twin.moves.length > number) twin.pop();
  const hand = twin.handNumber;
  twin.push(move);
  while (twin.handNumber === hand && !twin.isGameOver()) twin.push(player.ask(twin.view(), keyOf("0", twin.moves.length)));
  return [...twin.steps()].slice(number);
}
