// @ts-check
/** The line to a table at a server: it is made again when it is cut, and says who one is. */
import { info } from "../fiveup.mjs";
import { remember, remembered } from "../store.js";

const VERSION = 1, LONGEST = 10_000; // milliseconds between two attempts

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
      const message = JSON.parse(data);
      this.#wait = 500;
      if (message.final) this.close();
      this.hear(message);
    });
    socket.addEventListener("close", () => {
      if (this.#closed) return;
      this.cut();
      setTimeout(() => { if (!this.#closed) this.#open(); }, this.#wait);
      this.#wait = Math.min(LONGEST, 2 * this.#wait);
    });
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
