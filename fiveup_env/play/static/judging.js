// @ts-check
/** What trials in worlds show: means with their errors, and by how much a move falls short. */

const NORMAL = 1.96; // standard errors to either side of a 95 % interval

/** @param {number} mean @param {number} error */
function estimate(mean, error) {
  return { mean, error, interval: [mean, mean - NORMAL * error, mean + NORMAL * error] };
}

/** @param {number[]} values */
function meanOf(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param {number[]} values */
function varianceOf(values) {
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}

/**
 * Return the values of a move, in every step-th world from `first` on.
 * @param {Float64Array} found @param {number} count of moves @param {number} move @param {number} what 0: chances, 1: points
 */
function column(found, count, move, what, first = 0, step = 1) {
  const values = [];
  for (let world = first; world < found.length / (2 * count); world += step) values.push(found[2 * (world * count + move) + what]);
  return values;
}

/**
 * Return what every move brings, the best first: its chance to win and its points, each with the
 * bounds of its 95 % interval.
 * @param {Float64Array} found @param {string[]} moves
 */
export function summary(found, moves) {
  const options = moves.map((move, k) => {
    const [chance, points] = [0, 1].map((what) => {
      const values = column(found, moves.length, k, what);
      return estimate(meanOf(values), Math.sqrt(varianceOf(values) / values.length)).interval;
    });
    return { move, chance, points };
  });
  return options.sort((one, two) => two.chance[0] - one.chance[0]);
}

/**
 * Return by how much a move falls short of the best, in chances and in points. One half of the
 * worlds chooses the best, the other says by how much, both ways round.
 * @param {Float64Array} found @param {number} count @param {number} taken
 */
export function shortfalls(found, count, taken) {
  const best = [0, 1].map((half) => {
    const means = Array.from({ length: count }, (_, k) => meanOf(column(found, count, k, 0, half, 2)));
    return means.indexOf(Math.max(...means));
  });
  return [0, 1].map((what) => {
    const apart = [0, 1].map((half) => {
      const other = column(found, count, best[1 - half], what, half, 2), own = column(found, count, taken, what, half, 2);
      return other.map((value, k) => value - own[k]);
    });
    const error = Math.sqrt(apart.reduce((sum, half) => sum + varianceOf(half) / half.length, 0)) / 2;
    return estimate(meanOf(apart.map(meanOf)), error);
  });
}

/**
 * Return the mean loss of a seat's decisions; its error takes the hands for the sample.
 * @param {{ hand: number, seat: number, chance: number[], points: number[], mistake: boolean }[]} decisions @param {number} seat
 */
export function rateOf(decisions, seat) {
  const own = decisions.filter((one) => one.seat === seat);
  const [chance, points] = /** @type {const} */ (["chance", "points"]).map((what) => {
    /** @type {Map<number, number[]>} */
    const hands = new Map();
    for (const one of own) hands.set(one.hand, [...(hands.get(one.hand) ?? []), one[what][0]]);
    if (!own.length) return [null, null, null];
    const rate = meanOf(own.map((one) => one[what][0]));
    if (hands.size < 2) return [rate, null, null];
    const apart = [...hands.values()].reduce((sum, losses) => sum + (losses.reduce((all, loss) => all + loss, 0) - rate * losses.length) ** 2, 0);
    return estimate(rate, Math.sqrt(apart * hands.size / (hands.size - 1)) / own.length).interval;
  });
  return { seat, decisions: own.length, mistakes: own.filter((one) => one.mistake).length, chance, points };
}
