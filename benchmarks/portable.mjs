// node portable.mjs BINDING FOLDER: time the module on the views of a folder; print the figures.
import { readFileSync } from "node:fs";

const [binding, folder] = process.argv.slice(2);
const began = performance.now();
const { View, Policy, agent, playRandomly } = await import(binding);
const loaded = performance.now() - began;
const whole = readFileSync(`${folder}/views.bin`), policy = new Policy(readFileSync(`${folder}/student.weights`));
const { size } = JSON.parse(readFileSync(`${folder}/sizes.json`, "utf8"));
const views = Array.from({ length: whole.length / size }, (_, i) => new View(whole.subarray(i * size, (i + 1) * size)));

function seconds(rounds, work) {
  const warm = performance.now() + 1000; // engines compile what is hot anew
  while (performance.now() < warm) work();
  const start = performance.now();
  for (let k = 0; k < rounds; k++) work();
  return (performance.now() - start) / 1000 / rounds;
}

const decision = (player, rounds, count = views.length) =>
  seconds(rounds, () => views.slice(0, count).forEach((view, i) => player.ask(view, BigInt(i)))) / count;

playRandomly(200_000);
const moves = 5_000_000;
const start = performance.now();
playRandomly(moves);
console.log(JSON.stringify({
  load: loaded / 1000,
  moves: moves / ((performance.now() - start) / 1000),
  partner: decision(agent("partner"), 40),
  student: decision(agent("student", { policy }), 20),
  pimc: decision(agent("pimc", { worlds: 200, aim: "hand" }), 1, 200),
  search: decision(agent("student+search", { policy, worlds: 550 }), 1, 200),
}));
