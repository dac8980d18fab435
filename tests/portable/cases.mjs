// Play the games and answer the questions of some cases, by a binding; in node and in browsers.
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text) => Uint8Array.from(text.match(/../g), (byte) => parseInt(byte, 16));
const doubles = (numbers) => hex(new Uint8Array(Float64Array.from(numbers).buffer));

async function digestOf(parts) {
  const encoder = new TextEncoder();
  const whole = await new Blob(parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part))).arrayBuffer();
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", whole)));
}

function seenIn(Game, { rules, players, fields, seed, choices }) {
  const game = new Game({ rules, players, seed: BigInt(seed), ...fields });
  const seen = [game.bytes.slice()];
  for (const choice of choices) {
    const moves = game.legalMoves();
    game.push(moves[choice]);
    seen.push(moves.join(), game.bytes.slice());
  }
  return seen;
}

/** Learn for some updates, kept and taken up again in between; return all bytes, and the policy. */
async function learnt(Training, { settings, updates }) {
  const run = new Training(settings);
  for (let k = 0; k < updates; k++) run.update(0.3);
  const again = new Training(run.save());
  again.update(0.5);
  return [String(again.decisions), await digestOf([again.save()]), await digestOf([again.policy()])];
}

export async function answers({ Game, View, Training, agent }, cases, policies) {
  const views = cases.views.map((view) => new View(fromHex(view)));
  const ask = ({ name, options, views: which, key }) => {
    const player = agent(name, { ...options, policy: policies[options.policy] });
    return which.map((i) => {
      const move = player.ask(views[i], BigInt(key) + BigInt(i));
      if (!player.values) return [move];
      const found = player.values(views[i], BigInt(key) + BigInt(i));
      const rows = found.flatMap(({ value, error, score }) => [value, error, score]);
      return [move, found.map((one) => one.move).join(), doubles(rows)];
    });
  };
  const logits = (view) => agent("student", { policy: policies.student }).logits(view).map(({ logit }) => logit);
  const games = [];
  for (const game of cases.games) games.push(await digestOf(seenIn(Game, game)));
  const runs = [];
  for (const run of cases.runs) runs.push(await learnt(Training, run));
  return {
    games,
    runs,
    views: views.map((view) => [
      view.legalMoves().join(),
      String(view.worlds()),
      doubles(view.marginals().flatMap((row) => [...row])),
    ]),
    logits: views.map((view) => doubles(logits(view))),
    asked: cases.asked.map(ask),
  };
}
