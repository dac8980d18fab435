// node fuzz.mjs CALLS SEED: call every function with arguments of all kinds; each is refused or answered.
import { readFileSync } from "node:fs";

const folder = new URL("../../fiveup_env/portable/", import.meta.url);
const info = JSON.parse(readFileSync(new URL("fiveup.json", folder)));
const loaded = async (name) => (await WebAssembly.instantiate(readFileSync(new URL(name, folder)))).instance.exports;
const module = await loaded("fiveup.wasm"), learning = await loaded("learning.wasm");
const [calls, seed] = process.argv.slice(2).map(Number);

let state = seed | 1;
const chance = () => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
};
const below = (bound) => chance() % bound;
const word = () => (BigInt(chance()) << 32n) | BigInt(chance());
const odd = [-1, 0, 1, 5, 28, 119, 121, 2 ** 31 - 1, -(2 ** 31)];
const anyInt = () => (below(4) ? below(124) - 2 : odd[below(odd.length)]);

const sizeOf = (type) => {
  const name = type.match(/fiveup_(\w+)/)?.[1];
  return name ? info.structs[name].size : 8 * info.grid ** 2; // enough for any row of numbers
};
const places = new Map();
const placeOf = (name, type) => {
  if (!places.has(name)) places.set(name, [module.fiveup_allocate(sizeOf(type)), sizeOf(type)]);
  return places.get(name);
};
const bytesAt = (at, size) => new Uint8Array(module.memory.buffer, at, size);

const names = Object.keys(info.functions).filter((name) => name !== "outlook" && `fiveup_${name}` in module);
const [game] = placeOf("game", "fiveup_game *");
const [rules] = placeOf("rules", "fiveup_rules *");
const presets = Object.values(info.presets).flat().filter(Boolean).map((hex) => Buffer.from(hex, "hex"));
const slow = info.structs.options.fields.weighed.offset;
let answered = 0;
for (let call = 0; call < calls; call++) {
  const preset = presets[below(presets.length)];
  bytesAt(rules, preset.length).set(preset);
  module.fiveup_new_game(game, rules, word());
  module.fiveup_play_randomly(game, below(40), word());
  const turn = bytesAt(game, sizeOf("fiveup_game"))[info.structs.public.fields.turn.offset];
  module.fiveup_look(game, turn, placeOf("view", "fiveup_view *")[0]);
  const name = names[below(names.length)];
  const given = Object.entries(info.functions[name]).map(([argument, type]) => {
    if (type === "uint64_t") return word();
    if (!type.endsWith("*")) return argument === "count" || argument === "end" ? below(5) - 1 : anyInt();
    const [at, size] = placeOf(argument, type);
    if (below(2)) for (let k = below(5); k > 0; k--) bytesAt(at, size)[below(size)] = chance();
    return below(30) ? at : 0;
  });
  const [options] = placeOf("options", "fiveup_options *"), [search] = placeOf("search", "fiveup_search *");
  for (const at of [options, search + info.structs.search.fields.options.offset]) {
    new DataView(module.memory.buffer).setInt32(at + slow, below(4), true); // more is right, but slow
  }
  const result = module[`fiveup_${name}`](...given);
  if (result <= info.refusals.FAILED[0]) throw new Error(`${name}(${given}) failed: ${result}`);
  answered += result >= 0;
}

// Runs that learn, of which some bytes, or whole numbers, are others than what was learnt.
const { Training } = await import(new URL("learning.mjs", folder));
const whole = new Training({ width: 4, games: 70, ticks: 5, batch_size: 64 });
for (let k = 0; k < 3; k++) whole.update();
const far = [0n, 2n ** 64n - 1n, 2n ** 63n - 1n, 2n ** 63n, 0x7ff8n << 48n, 0x7ff0n << 48n];
const kept = whole.save(), room = learning.fiveup_allocate(kept.length), known = Object.values(info.refusals).map(([code]) => code);
for (let call = 0; call < calls / 20; call++) {
  const bytes = new Uint8Array(learning.memory.buffer, room, kept.length);
  bytes.set(kept);
  const near = below(2) ? kept.length : 4096; // settings and games, or all
  for (let k = below(9); k > 0; k--) bytes[chance() % near] = chance();
  if (below(2)) new DataView(learning.memory.buffer, room).setBigUint64(8 * below(near >> 3), far[below(far.length)], true);
  for (const name of ["update", "settle", "update"]) {
    const result = learning[`fiveup_learning_${name}`](room, below(9) ? kept.length : anyInt());
    if (result < 0 && (!known.includes(result) || result === info.refusals.FAILED[0])) throw new Error(`${name} failed: ${result}`);
  }
}
if (!(answered > calls / 20)) throw new Error(`only ${answered} of ${calls} calls were answered`);
console.log(`${calls} calls, ${answered} answered`);
