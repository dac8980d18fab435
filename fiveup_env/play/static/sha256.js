// @ts-check
/** SHA-256, for pages that came without a certificate: browsers give theirs to others alone. */

/** The first 32 bits of what follows the point in roots of primes. @param {number} count @param {number} root */
function fractions(count, root) {
  const found = [];
  for (let n = 2; found.length < count; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) prime &&= n % d > 0;
    if (prime) found.push(Math.floor((n ** (1 / root) % 1) * 2 ** 32));
  }
  return found;
}

const START = fractions(8, 2), ROUNDS = fractions(64, 3);

/** Return the digest of a text, or of bytes, in hexadecimal digits. @param {string | Uint8Array} given */
export function sha256(given) {
  const bytes = typeof given === "string" ? new TextEncoder().encode(given) : given, blocks = ((bytes.length + 8) >> 6) + 1;
  const data = new DataView(new ArrayBuffer(64 * blocks)), turn = (/** @type {number} */ x, /** @type {number} */ n) => (x >>> n) | (x << (32 - n));
  bytes.forEach((byte, k) => data.setUint8(k, byte));
  data.setUint8(bytes.length, 0x80);
  data.setUint32(data.byteLength - 4, 8 * bytes.length);
  const state = Int32Array.from(START), words = new Int32Array(64);
  for (let block = 0; block < blocks; block++) {
    for (let k = 0; k < 64; k++) {
      if (k < 16) words[k] = data.getInt32(64 * block + 4 * k);
      else {
        const early = words[k - 15], late = words[k - 2];
        words[k] = words[k - 16] + words[k - 7] + (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) + (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
      }
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let k = 0; k < 64; k++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[k] + words[k]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, k) => { state[k] += word; });
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
