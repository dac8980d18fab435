// An agent in JavaScript: the module's `partner`, or another of its agents, by lines of JSON.
//
//     fiveup evaluate --agents "program:node examples/bot.mjs partner,greedy" --deals 20
import { createInterface } from "node:readline";

import { View, agent } from "../fiveup_env/portable/fiveup.mjs";

const name = process.argv[2] ?? "partner";
const player = agent(name);
const say = (/** @type {object} */ message) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** The moves for a question, whose views are structs one after the other. */
function choose(/** @type {{ views: string, view_bytes: number, chance: string }} */ asked) {
  const bytes = Buffer.from(asked.views, "base64");
  const key = BigInt(`0x${asked.chance.slice(0, 15)}`);
  const moves = [];
  for (let at = 0; at < bytes.length; at += size) {
    const view = new View(new Uint8Array(bytes.subarray(at, at + size)));
    moves.push(player.ask(view, key + BigInt(at)));
  }
  return moves;
}

let size = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  if (asked.type === "quit") break;
  if (asked.type === "hello") {
    size = asked.view_bytes;
    say({ type: "hello", protocol: "fiveup-agent", version: 1, name, views: "struct" });
  } else {
    try {
      say({ type: "chosen", id: asked.id, moves: choose(asked) });
    } catch (error) {
      say({ type: "error", id: asked.id, message: String(error) });
    }
  }
}
