// node lockstep.mjs SITE GAMES: play games as the page does, judge some moves, and print all of it.
globalThis.navigator ??= { language: "en" };
const [site, count] = process.argv.slice(2);
const { Policy, Game, info, layout, viewOf } = await import(`${site}/fiveup.mjs`);
const { LEVELS, SEARCHES, keyOf, makeLevel } = await import(`${site}/levels.js`);
const { Table, begun, gamesIn } = await import(`${site}/table.js`);
const { allHappenings } = await import(`${site}/telling.js`);
const { shortfalls, summary } = await import(`${site}/judging.js`);
const { outlook } = await import(`${site}/learn/reasons.js`);
const { scramble, tryMoves } = await import(`${site}/fiveup.mjs`);

const quick = LEVELS.filter((level) => !SEARCHES.includes(level));
const presets = Object.keys(info.presets).filter((name) => !name.startsWith("mini"));
const policy = (name) => Policy.load(`${name}.weights`);
const agents = Object.fromEntries(await Promise.all([...LEVELS, "greedy"].map(async (level) => [level, await makeLevel(level, policy)])));

function played(seed) {
  const players = 2 + (seed % 4), rules = presets[seed % presets.length];
  const levels = Array.from({ length: players }, (_, seat) => quick[(seed + seat) % quick.length]);
  if (seed % 25 === 0) levels.splice(0, SEARCHES.length, ...SEARCHES); // they take longer
  const table = new Table(begun({ rules, players, seat: 0, levels, target: rules === "five_up" ? 12 : 30 }, String(seed * 7919)));
  const chosen = [];
  while (!table.game.isGameOver()) {
    const { game } = table, legal = game.legalMoves();
    const move = agents[levels[game.turn]].ask(game.view(), table.key);
    chosen.push({ legal: legal.join(), move, key: String(keyOf(table.saved.seed, game.moves.length)) });
    table.play(move);
  }
  const again = gamesIn(JSON.stringify(table.file(["a", "b", "c", "d", "e"])))[0];
  if (again.moves.join() !== table.game.moves.join() || JSON.stringify(again.arms) !== JSON.stringify(table.arms)) throw new Error(`game ${seed} is not what was saved`);
  const hands = table.game.hands().map((hand, k) => {
    const plays = hand.plays.map(({ move }) => move);
    return { plays, placed: layout(plays, { spinners: String(table.rules.spinners), width: 46 }), chosen: layout(plays, { spinners: String(table.rules.spinners), width: 46, arms: table.arms[k] }).tiles.map(({ arm }) => arm), arms: table.arms[k] };
  });
  return { rules: table.setup, seed: table.saved.seed, levels, chosen, scores: table.game.scores, hands, record: table.file([]).record, happenings: allHappenings(table.game).length };
}

/** Look at every move for what the next player could score, and compare it with what the engine says. */
function replies(seed) {
  const game = new Game({ rules: presets[seed % presets.length], players: 2 + (seed % 4), seed: BigInt(seed), target: 30 });
  let compared = 0;
  while (!game.isGameOver()) {
    const { before, move } = { before: game.copy(), move: agents.greedy.ask(game.view(), BigInt(game.moves.length)) };
    const hand = game.handNumber, hidden = before.hand((before.turn + 1) % before.rules.players);
    game.push(move);
    const isNext = game.turn === (before.turn + 1) % before.rules.players && game.handNumber === hand;
    if (!isNext || game.isGameOver()) continue;
    const found = outlook(before, move).replies;
    for (const tile of hidden) {
      const points = game.outcomes().filter((one) => one.move.startsWith(tile)).map((one) => one.points);
      if (Math.max(0, ...points) !== (found.get(tile) ?? 0)) throw new Error(`${tile} after ${move}`);
      compared++;
    }
  }
  return compared;
}

/** Judge the first decisions of a game. */
function judged(seed) {
  const game = new Game({ players: 4, seed: BigInt(seed), target: 5 }), partner = agents.greedy;
  while (!game.isGameOver()) game.push(partner.ask(game.view(), BigInt(game.moves.length)));
  const verdicts = [...game.steps()].flatMap(({ before, move }, number) => {
    const view = viewOf(before, before.turn), moves = view.legalMoves();
    if (moves.length < 2 || number > 20) return [];
    const found = tryMoves(view, moves, { key: scramble((scramble(0n) + BigInt(number)) & ((1n << 64n) - 1n)) });
    const [chance, points] = shortfalls(found, moves.length, moves.indexOf(move));
    return [{ number, move, lost: [chance.mean, chance.error, points.mean, points.error], options: summary(found, moves) }];
  });
  return { moves: game.moves, verdicts };
}

const found = { games: Array.from({ length: Number(count) }, (_, seed) => played(seed)), judged: judged(5), replies: Array.from({ length: 20 }, (_, seed) => replies(seed)) };
process.stdout.write(JSON.stringify(found), () => process.exit(0)); // a channel between tabs is still open
