// A whole game in JavaScript: `partner` against the small network, in the rules of five_up for two.
//
//     python -m fiveup_env.portable weights student && node examples/play.mjs student.weights 7
import { pathToFileURL } from "node:url";

import { Game, Policy, agent } from "../fiveup_env/portable/fiveup.mjs";

const [file, seed = "1"] = process.argv.slice(2);
if (!file) {
  console.error("usage: node play.mjs POLICY.weights [SEED]");
  process.exit(2);
}
const players = [agent("partner"), agent("student", { policy: await Policy.load(pathToFileURL(file)) })];
const game = new Game({ rules: "five_up", players: 2, seed: BigInt(seed) });
for (let made = 0n, hand = 0; !game.isGameOver(); made++) {
  game.push(players[game.turn].ask(game.view(), BigInt(seed) + made));
  const last = game.lastHand();
  if (last && (game.handNumber > hand || game.isGameOver())) {
    console.log(`hand ${hand++}: partner ${last.scores[0]}, student ${last.scores[1]}`);
  }
}
console.log(`${["partner", "student"][game.winner]} wins`);
