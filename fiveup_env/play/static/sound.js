// @ts-check
/** Small sounds, made here: a tile that is set, and points. */
import { remember, remembered } from "./store.js";

/** @type {AudioContext | null} */
let audio = null;
let on = remembered("sound", "on") === "on";

export const isOn = () => on;

/** @param {boolean} wanted */
export function setSound(wanted) {
  on = wanted;
  remember("sound", on ? "on" : "off");
}

/** @param {number} pitch @param {number} at seconds from now @param {number} length */
function tone(pitch, at, length) {
  if (!audio) return;
  const source = audio.createOscillator(), volume = audio.createGain(), start = audio.currentTime + at;
  source.frequency.value = pitch;
  volume.gain.setValueAtTime(0.08, start);
  volume.gain.exponentialRampToValueAtTime(0.0001, start + length);
  source.connect(volume).connect(audio.destination);
  source.start(start);
  source.stop(start + length);
}

/** Let a tile click, and points ring; browsers allow it once the page was touched. @param {number} points */
export function clack(points) {
  if (!on || !navigator.userActivation?.hasBeenActive) return;
  audio ??= new AudioContext();
  tone(190, 0, 0.07);
  if (points > 0) [660, 880, 990].slice(0, Math.min(3, points)).forEach((pitch, k) => tone(pitch, 0.08 + 0.09 * k, 0.16));
}
