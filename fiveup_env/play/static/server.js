// @ts-check
/** What `fiveup play` adds to the page: agents by any spec, games to study or to watch, and a folder in which its host keeps games. */

import { Refused } from "./errors.js";

/** @typedef {{ setup?: import("./store.js").Setup, seed?: string, games: boolean, study?: boolean, watch?: boolean }} Offer */

const told = document.querySelector("meta[name=fiveup-server]")?.getAttribute("content") || "null";
/** What the server offers; null if the page came from a plain file server. @type {Offer | null} */
export const offer = JSON.parse(told);

/** @param {string} path @param {object} [body] @returns {Promise<any>} */
export async function asked(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`api/${path}`, options), found = await answer.json();
  if (!answer.ok) throw new Refused(found.error);
  return found;
}

/** @param {Uint8Array} bytes */
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Ask an agent of the server for its move. @param {string} spec @param {Uint8Array} view @param {bigint} key @returns {Promise<string>} */
export const askServer = async (spec, view, key) => (await asked("ask", { spec, view: hex(view), key: String(key) })).move;
/** @param {string} spec */
export const checkSpec = (spec) => asked("check", { spec });
/** @param {string} id @param {object} file */
export const keepOnServer = (id, file) => asked(`games/${id}`, file);
/** The games of `fiveup study`. @returns {Promise<object[]>} */
export const gamesToStudy = async () => (await asked("studied")).games;
/** @returns {Promise<object | null>} */
export const watchedOnServer = async () => (await asked("watched")).game;
