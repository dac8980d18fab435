// node training.mjs SITE FOLDER: learn, save and load as the page does, and print what came of it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const [site, folder] = process.argv.slice(2);
const { Game, Policy, agent } = await import(`${site}/fiveup.mjs`);
const { Training, packed } = await import(`${site}/learning.mjs`);
const { Refused } = await import(`${site}/errors.js`);
const { agentIn, filesOf } = await import(`${site}/training/policies.js`);

const SMALL = { width: 8, depth: 2, games: 16, ticks: 16, batch_size: 64, learning_rate: 0.01, seed: 7 };
const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** Views of some moves of a game. */
function viewsOf(players) {
  const game = new Game({ players, seed: 11 }), views = [], partner = agent("partner");
  while (views.length < 25) {
    views.push(game.view());
    game.push(partner.ask(game.view(), 1n));
  }
  return views;
}

const views = [...viewsOf(4), ...viewsOf(2)];
const logitsOf = (bytes) => {
  const network = agent("policy", { policy: new Policy(bytes) });
  return views.map((view) => Object.fromEntries(network.logits(view).map(({ move, logit }) => [move, logit])));
};

function learnt(run, updates) {
  for (let k = 0; k < updates; k++) run.update();
  return run;
}

const runs = ["plain", "guided"].flatMap((network) => ["margin", "win"].map((reward) => {
  const options = { ...SMALL, network, reward, horizon: reward === "win" ? 1 : 0 }, name = `${network}-${reward}`;
  const straight = learnt(new Training(options), 4), resumed = learnt(new Training(learnt(new Training(options), 2).save()), 2);
  const shape = { network, width: 8, depth: 2, reward };
  const about = { rules: ["five_up"], players: [4], decisions: straight.decisions, config: { reward, horizon: reward === "win" ? "game" : "hand" } };
  const files = filesOf({ shape, weights: straight.weights(), about });
  mkdirSync(`${folder}/${name}`);
  for (const [file, bytes] of Object.entries(files)) writeFileSync(`${folder}/${name}/${file}`, bytes);
  return { name, network, same: hex(straight.save()) === hex(resumed.save()), logits: logitsOf(straight.policy()) };
}));

const played = (agentOfFiles) => logitsOf(packed(agentOfFiles.shape, agentOfFiles.weights));
const read = (name) => [readFileSync(`${folder}/${name}/policy.safetensors`), readFileSync(`${folder}/${name}/policy.json`, "utf8")];
const loaded = ["guided", "half", "plain"].map((name) => ({ name, logits: played(agentIn(...read(name))) }));

const [weights, description] = read("guided"), other = JSON.parse(description);
const bad = {
  cut: [weights.subarray(0, -8), description], altered: [weights, description.replace('"hand"', '"game"')], empty: [new Uint8Array(0), "{}"], text: [weights, "no"],
  deeper: [weights, JSON.stringify({ ...other, shape: { ...other.shape, depth: 3 } })], attention: [weights, JSON.stringify({ ...other, shape: { ...other.shape, kind: "attention" } })],
};
const refused = Object.entries(bad).map(([name, given]) => {
  try { agentIn(...given); } catch (error) { return [name, error instanceof Refused]; }
  return [name, false];
});
console.log(JSON.stringify({ runs, loaded, refused, views: views.map(({ bytes }) => hex(bytes)) }));
