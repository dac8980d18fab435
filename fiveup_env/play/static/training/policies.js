// @ts-check
/** Policies as Python reads and writes them: policy.safetensors holds the weights, policy.json says what they are. */
import { Refused } from "../errors.js";
import { info } from "../fiveup.mjs";
import { sha256 } from "../sha256.js";

/** @typedef {{ network: string, width: number, depth: number, reward: string }} Shape */
/** @typedef {{ name: string, shape: number[], turned: boolean }} Tensor those of layers stand in the weights the other way round */
/** @typedef {{ shape: Shape, weights: Float32Array, about: Record<string, any> }} Agent */

export const WEIGHTS = "policy.safetensors", DESCRIPTION = "policy.json";
const FORMAT = "fiveup-policy", VERSION = 1, MOST_HEADER = 1 << 20, SCORES = 17, TITLE_BYTES = 8;
/** What networks read of which encoder's rows: entries of the trunk, and features of every action. @type {Record<string, { encoder: { name: string, version: number, row_size: number }, entries: number, features: number }>} */
const READS = {
  plain: { encoder: { name: "flat", version: 1, row_size: 557 }, entries: 557, features: 0 },
  guided: { encoder: { name: "lookahead", version: 2, row_size: 1758 }, entries: 669, features: 9 },
};

/** The tensors of a network, in the order of its weights. @param {Shape} shape @returns {Tensor[]} */
function tensorsOf({ network, width, depth }) {
  const { entries, features } = READS[network], actions = info.moves.length;
  const tensor = (/** @type {string} */ name, /** @type {number[]} */ ...shape) => ({ name, shape, turned: false });
  const layer = (/** @type {string} */ name, inputs = width) => ({ name: `policy_trunk.${name}.weight`, shape: [width, inputs], turned: true });
  const row = (/** @type {string} */ name) => tensor(`policy_trunk.${name}`, width);
  /** @param {(k: number) => Tensor[]} make */
  const each = (make, first = 0) => Array.from({ length: depth - first }, (_, k) => make(first + k)).flat();
  const trunk = network === "plain" ? [
    layer("layers.0", entries), row("layers.0.bias"), ...each((k) => [layer(`layers.${k}`)], 1), ...each((k) => [row(`layers.${k}.bias`)], 1),
  ] : [
    layer("first", entries), row("first.bias"), ...each((k) => [row(`blocks.${k}.0.weight`), row(`blocks.${k}.0.bias`)]),
    ...each((k) => [layer(`blocks.${k}.1`)]), ...each((k) => [row(`blocks.${k}.1.bias`)]),
    ...each((k) => [layer(`blocks.${k}.3`)]), ...each((k) => [row(`blocks.${k}.3.bias`)]), row("norm.weight"), row("norm.bias"),
  ];
  const guide = features ? [tensor("guide.weight", features, width), tensor("guide.bias", features)] : [];
  return [
    ...trunk, tensor("policy_head.weight", actions, width), tensor("policy_head.bias", actions), ...guide,
    tensor("worth", SCORES), tensor("value_head.weight", 1, width), tensor("value_head.bias", 1),
  ];
}

const sizeOf = (/** @type {number[]} */ shape) => shape.reduce((product, side) => product * side, 1);

/** Return a matrix with rows for columns. @param {Float32Array} matrix @param {number} rows */
function turned(matrix, rows) {
  const columns = matrix.length / rows;
  return matrix.map((_, k) => matrix[(k % rows) * columns + Math.floor(k / rows)]);
}

/** JSON as Python writes it on one line; numbers stay as they are written. @param {string} json */
const asPython = (json) => (json.match(/"(?:[^"\\]|\\.)*"|[^\s"]/g) ?? []).map((part) => (part === "," || part === ":" ? `${part} ` : part)).join("");

/** The digest of weights with their description, whose own digest stands at its end. @param {Uint8Array} weights @param {string} description */
function digestOf(weights, description) {
  const rest = new TextEncoder().encode(asPython(description).replace(/, "digest": "[^"]*"\}$/, "}")), all = new Uint8Array(weights.length + rest.length);
  all.set(weights);
  all.set(rest, weights.length);
  return sha256(all);
}

/** Return the two files of an agent, by name. @param {Agent} agent @returns {{ [name: string]: Uint8Array }} */
export function filesOf({ shape, weights, about }) {
  /** @type {Record<string, { dtype: string, shape: number[], data_offsets: number[] }>} */
  const header = {}, data = new Float32Array(weights.length);
  let at = 0;
  for (const { name, shape: sides, turned: isTurned } of tensorsOf(shape)) {
    const end = at + sizeOf(sides), part = weights.subarray(at, end);
    data.set(isTurned ? turned(part, sides[1]) : part, at);
    header[name] = { dtype: "F32", shape: sides, data_offsets: [4 * at, 4 * end] };
    at = end;
  }
  if (at !== weights.length) throw new Refused("this page and its module are of different versions: load it again");
  const text = JSON.stringify(header), title = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 8) * 8));
  const file = new Uint8Array(TITLE_BYTES + title.length + 4 * at);
  new DataView(file.buffer).setUint32(0, title.length, true);
  file.set(title, TITLE_BYTES);
  file.set(new Uint8Array(data.buffer), TITLE_BYTES + title.length);
  const { network, width, depth } = shape, { encoder } = READS[network];
  const description = { format: FORMAT, version: VERSION, encoder, actions: info.moves.length, shape: { kind: network, width, depth, shared: true }, about };
  const digest = digestOf(file, JSON.stringify(description));
  return { [WEIGHTS]: file, [DESCRIPTION]: new TextEncoder().encode(`${JSON.stringify({ ...description, digest }, null, 1)}\n`) };
}

/** Return the agent of two files, or refuse it. @param {Uint8Array} weights @param {string} description @returns {Agent} */
export function agentIn(weights, description) {
  let told;
  try { told = JSON.parse(description); } catch { throw new Refused(`${DESCRIPTION} is not valid JSON`); }
  if (told?.format !== FORMAT || told.version !== VERSION) throw new Refused(`${DESCRIPTION} is not that of a policy of version ${VERSION}`);
  const { kind, width, depth, shared } = told.shape ?? {}, about = told.about ?? {}, reads = Object.hasOwn(READS, kind) ? READS[kind] : null;
  if (!reads || shared !== true) throw new Refused(`this page plays plain and guided policies with one trunk, not ${JSON.stringify(told.shape)}`);
  if (![width, depth].every((size) => Number.isInteger(size) && size > 0 && size <= 1024)) throw new Refused(`width and depth are whole numbers, not ${width} and ${depth}`);
  const { name, version, row_size } = reads.encoder;
  if (told.encoder?.name !== name || told.encoder.version !== version || told.encoder.row_size !== row_size || told.actions !== info.moves.length) {
    throw new Refused(`the policy reads ${told.encoder?.name} ${told.encoder?.version}, and this page ${name} ${version}`);
  }
  if (told.digest !== digestOf(weights, description)) throw new Refused(`${WEIGHTS} and ${DESCRIPTION} do not belong together, or one was cut or altered`);
  const reward = { ...about, ...about.config }.reward, shape = { network: kind, width, depth, reward: info.rewards.includes(reward) ? reward : "margin" };
  return { shape, weights: weightsIn(weights, tensorsOf(shape)), about };
}

/** Return the weights in a safetensors file, in the order of tensors. @param {Uint8Array} file @param {Tensor[]} tensors */
function weightsIn(file, tensors) {
  const data = new DataView(file.buffer, file.byteOffset, file.byteLength), start = TITLE_BYTES + (file.length < TITLE_BYTES ? Infinity : data.getUint32(0, true));
  let header;
  try { header = JSON.parse(new TextDecoder().decode(file.subarray(TITLE_BYTES, Math.min(start, MOST_HEADER)))); } catch { throw new Refused(`${WEIGHTS} does not hold tensors`); }
  const weights = new Float32Array(tensors.reduce((sum, { shape }) => sum + sizeOf(shape), 0));
  let at = 0;
  for (const { name, shape, turned: isTurned } of tensors) {
    const { dtype, shape: sides, data_offsets: [first, end] = [-1, -1] } = header[name] ?? {}, count = sizeOf(shape), size = { F16: 2, F32: 4 }[/** @type {"F16"} */ (dtype)] ?? 0;
    const fits = size && String(sides) === String(shape) && Number.isInteger(first) && first >= 0 && end === first + count * size && start + end <= file.length;
    if (!fits) throw new Refused(`the tensor ${name} should be ${shape.join(" x ")} numbers of F32 or F16`);
    const part = Float32Array.from({ length: count }, (_, k) => (size === 4 ? data.getFloat32(start + first + 4 * k, true) : halfIn(data.getUint16(start + first + 2 * k, true))));
    if (!part.every(Number.isFinite)) throw new Refused(`the tensor ${name} has values that are not finite`);
    weights.set(isTurned ? turned(part, shape[0]) : part, at);
    at += count;
  }
  return weights;
}

/** Return the number that 16 bits are. @param {number} bits */
function halfIn(bits) {
  const sign = bits >> 15 ? -1 : 1, power = (bits >> 10) & 31, rest = bits & 1023;
  if (power === 31) return rest ? NaN : sign * Infinity;
  return sign * (power ? 2 ** (power - 15) * (1 + rest / 1024) : rest / 2 ** 24);
}
