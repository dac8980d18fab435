// node lasting.mjs BINDING: 10,000 searches take no more memory, and two modules do not disturb each other.
const [one, two] = [await import(process.argv[2]), await import(`${process.argv[2]}?2`)];
const games = [one, two].map(({ Game }) => new Game({ players: 2, seed: 3, hand_size: 7 }));
const asked = ({ agent }, game, key) => agent("pimc", { worlds: 8, weighed: 4, aim: "hand" }).ask(game.view(), key);
const found = [];
for (let key = 1n; key <= 20n; key++) found.push(asked(one, games[0], key));
const before = one.memoryUsed();
for (let key = 1n; key <= 10000n; key++) {
  const move = asked(one, games[0], key);
  if (key <= 20n && move !== found[Number(key) - 1]) throw new Error("another answer to the same question");
  if (key <= 20n && asked(two, games[1], key) !== move) throw new Error("another answer from another module");
  if (key <= 20n) games[1].push(games[1].legalMoves()[0]), games[1].pop();
}
if (one.memoryUsed() !== before) throw new Error(`memory grew from ${before} to ${one.memoryUsed()} bytes`);
console.log("same");
