// @ts-check
/** A worker: agents, beliefs and judging. It is sent what one seat may know, or a game to judge. */
import { Policy, Seen, View, chances, chancesAtStart, Game, scramble, tryMoves, viewOf } from "./fiveup.mjs";
import { shortfalls, summary } from "./judging.js";
import { SEARCHES, isTrained, keyOf, makeLevel } from "./levels.js";
import { serve } from "./serving.js";
import { agentKept } from "./training/kept.js";

/** @type {Map<string, Promise<any>>} */
const agents = new Map();

/** @param {string} level */
function agentOf(level) {
  const made = agents.get(level) ?? makeLevel(level, async (name) => (isTrained(name) ? new Policy(await agentKept(name)) : Policy.load(`${name}.weights`)));
  agents.set(level, made);
  made.catch(() => agents.delete(level)); // the network may be there the next time
  return made;
}

const tasks = {
  /** @param {{ view: Uint8Array, level: string, key: bigint }} asked */
  async ask({ view, level, key }) {
    return (await agentOf(level)).ask(new View(view), key);
  },
  /** Make ready for a level, and for rules that a search has not met. @param {{ view: Uint8Array, levels: string[] }} asked */
  async warm({ view, levels }) {
    for (const level of levels) await agentOf(level);
    if (levels.some((level) => SEARCHES.includes(level))) tryMoves(new View(view), [], { end: 1 });
  },
  /** What each move of a view is worth, in the worlds of a key. @param {{ view: Uint8Array, worlds: number, key: bigint }} asked */
  async worth({ view, worlds, key }) {
    const seen = new View(view), moves = seen.legalMoves();
    return summary(tryMoves(seen, moves, { key, end: worlds }), moves);
  },
  /** @param {{ view: Uint8Array }} asked */
  async hidden({ view }) {
    const seen = new View(view);
    return { worlds: String(seen.worlds()), shares: seen.marginals() };
  },
  /** Judge a move: the numbers are those of Python's study. @param {{ state: Uint8Array, move: string, number: number }} asked */
  async decision({ state, move, number }) {
    const before = new Seen("game", state), seat = before.turn, view = viewOf(before, seat), moves = view.legalMoves();
    const found = tryMoves(view, moves, { key: scramble((scramble(0n) + BigInt(number)) & ((1n << 64n) - 1n)) });
    const options = summary(found, moves), [chance, points] = shortfalls(found, moves.length, moves.indexOf(move));
    const best = options[0].move;
    return { number, seat, move, best, chance: chance.interval, points: points.interval, mistake: move !== best && chance.mean > 3 * chance.error, options };
  },
  /** The chance to win of every seat, as it sees it. @param {{ state: Uint8Array, worlds: number }} asked */
  async moment({ state, worlds }) {
    const seen = new Seen("game", state), players = seen.rules.players;
    if (seen.phase !== "playing") {
      const sides = chances(seen);
      return Array.from({ length: players }, (_, seat) => sides[seat % sides.length]);
    }
    return Array.from({ length: players }, (_, seat) => {
      const found = tryMoves(viewOf(seen, seat), [], { end: worlds });
      let sum = 0;
      for (let k = 0; k < found.length; k += 2) sum += found[k];
      return sum / (found.length / 2);
    });
  },
  /**
   * The scores after each of the first hands that a level plays in somebody's seat, against the same others.
   * @param {{ rules: any, seed: string, seat: number, levels: string[], level: string, hands: number }} asked
   */
  async duplicate({ rules, seed, seat, levels, level, hands }) {
    const game = new Game({ ...rules, seed: BigInt(seed) });
    while (game.handNumber < hands && !game.isGameOver()) {
      const agent = await agentOf(game.turn === seat ? level : levels[game.turn]);
      game.push(agent.ask(game.view(), keyOf(seed, game.moves.length)));
    }
    return game.hands().slice(0, hands).map(({ scores }) => scores);
  },
  /** Luck and skill of every finished hand. @param {{ rules: any, hands: { dealt: Uint8Array, ended: Uint8Array }[] }} asked */
  async luck({ rules, hands }) {
    let before = chancesAtStart(new Game(rules));
    return hands.map(({ dealt, ended }, hand) => {
      const worth = chances(new Seen("game", dealt)), after = chances(new Seen("game", ended)), was = before;
      before = after;
      return { hand, luck: worth.map((one, side) => one - was[side]), skill: after.map((one, side) => one - worth[side]) };
    });
  },
};

serve(tasks);
