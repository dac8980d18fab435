// @ts-check
/** The line to a table at a server: it is made again when it is cut, and says who one is. */
import { info } from "../fiveup.mjs";
import { remember, remembered } from "../store.js";

const VERSION = 1, LONGEST = 10_000; // milliseconds between two attempts
const PATIENCE = 10_000; // milliseconds until an answer: a network that is gone says nothing

/** The key by which the server knows this browser again. @param {string} link */
function keyOf(link) {
  const key = remembered(`seat:${link}`, "") || Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36).padStart(7, "0")).join("");
  remember(`seat:${link}`, key);
  return key;
}

export class Line {
  /** @type {WebSocket | null} */ #socket = null;
  #wait = 500;
  #closed = false;
  #patience = 0;

  /** @param {string} link of a seat @param {(message: any) => void} hear @param {() => void} cut */
  constructor(link, hear, cut) {
    this.link = link;
    this.key = keyOf(link);
    this.hear = hear;
    this.cut = cut;
    this.#open();
  }

  #open() {
    const socket = this.#socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}${location.pathname.replace(/[^/]*$/, "")}api/seat`);
    socket.addEventListener("open", () => this.send({ type: "sit", version: VERSION, view_bytes: info.structs.view.size, link: this.link, key: this.key }));
    socket.addEventListener("message", ({ data }) => {
      if (socket !== this.#socket) return;
      const message = JSON.parse(data);
      clearTimeout(this.#patience);
      this.#wait = 500;
      if (message.final) this.close();
      this.hear(message);
    });
    socket.addEventListener("close", () => this.#lost(socket));
  }

  /** Open another line in place of one that is gone. @param {WebSocket | null} socket */
  #lost(socket) {
    if (this.#closed || !socket || socket !== this.#socket) return;
    this.#socket = null;
    socket.close();
    this.cut();
    setTimeout(() => { if (!this.#closed) this.#open(); }, this.#wait);
    this.#wait = Math.min(LONGEST, 2 * this.#wait);
  }

  /** Send what is answered at once; a line that stays silent is given up. @param {object} message */
  ask(message) {
    const socket = this.#socket;
    this.send(message);
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#lost(socket), PATIENCE);
  }

  /** @param {object} message */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close() {
    this.#closed = true;
    this.#socket?.close();
  }
}
