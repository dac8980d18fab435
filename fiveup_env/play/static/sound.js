// @ts-check
/** Small sounds, made here: a tile that is set, and points. */
import { remember, remembered } from "./store.js";

const RATE = 22050; // samples a second
const RINGS = [660, 880, 990];
/** @type {Map<number, HTMLAudioElement>} */
const sounds = new Map();
let on = remembered("sound", "on") === "on";

export const isOn = () => on;

/** @param {boolean} wanted */
export function setSound(wanted) {
  on = wanted;
  remember("sound", on ? "on" : "off");
}

/**
 * Return tones as a WAV file, a byte a sample; each begins somewhere and fades away.
 * @param {{ pitch: number, at: number, length: number }[]} tones
 */
function wave(tones) {
  const count = Math.ceil(RATE * Math.max(...tones.map(({ at, length }) => at + length)));
  const bytes = new Uint8Array(44 + count), head = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("RIFF----WAVEfmt --------------------data"));
  for (const [place, value] of [[4, 36 + count], [16, 16], [24, RATE], [28, RATE], [40, count]]) head.setUint32(place, value, true);
  for (const [place, value] of [[20, 1], [22, 1], [32, 1], [34, 8]]) head.setUint16(place, value, true);
  for (let k = 0; k < count; k++) {
    let sum = 0;
    for (const { pitch, at, length } of tones) {
      const since = k / RATE - at;
      if (since >= 0 && since < length) sum += Math.sin(2 * Math.PI * pitch * since) * 0.00125 ** (since / length);
    }
    bytes[44 + k] = 128 + Math.round(24 * sum);
  }
  return bytes;
}

/** Let a tile click, and points ring; browsers allow it once the page was touched. @param {number} points */
export function clack(points) {
  if (!on || !navigator.userActivation?.hasBeenActive) return;
  const rings = Math.min(RINGS.length, Math.max(0, points));
  let sound = sounds.get(rings);
  if (!sound) {
    const tones = RINGS.slice(0, rings).map((pitch, k) => ({ pitch, at: 0.08 + 0.09 * k, length: 0.16 }));
    sound = new Audio(URL.createObjectURL(new Blob([wave([{ pitch: 190, at: 0, length: 0.07 }, ...tones])], { type: "audio/wav" })));
    sounds.set(rings, sound);
  }
  sound.currentTime = 0;
  sound.play().catch(() => {}); // a browser without sound
}
