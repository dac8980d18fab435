// @ts-check
/** People at their own browsers: the links to their seats, who is here, and what they say. */
import { copy, showDialog, tell } from "../dialogs.js";
import { info } from "../fiveup.mjs";
import { asked } from "../server.js";
import { byId, element, say } from "../shared.js";
import { remember, remembered } from "../store.js";
import { t } from "../words.js";
import { Line } from "./line.js";
import { digestFor, noteEnd, pledgeOf, secretFor } from "./pledge.js";
import { HostedTable } from "./seen.js";

/** @typedef {import("./seen.js").Seat} Seat */
/** @typedef {{ sitDown: (table: HostedTable) => void, repaint: () => void, sign: (seat: number, text: string) => void }} Page */

const REFUSED = [403, 404, 409, 426]; // for which there is a sentence
/** @type {HostedTable | null} */
let table = null;
/** @type {((seats: Seat[]) => void) | null} */
let showSeats = null; // in the open dialog

/** @param {string} link */
const addressOf = (link) => `${location.origin}${location.pathname}#seat=${link}`;
/** The links of a table that was opened here, by one of them. @param {string} link @returns {(string | null)[]} */
const linksBeside = (link) => JSON.parse(remembered(`links:${link}`, "[]"));

/** Open a table for people in some seats, and sit down at the first of them. @param {import("../store.js").Setup} setup @param {Page} page */
export async function openTable({ seat, levels, ...setup }, page) {
  const { links } = await asked("tables", { ...setup, levels: levels.map((level) => info.levels[level]?.spec ?? level) });
  const own = links.find(Boolean);
  remember(`links:${own}`, JSON.stringify(links));
  sitAt(own, page);
}

/** Commit to a secret of one's own, and give it once all have committed: then nobody can choose the deal. @param {any} message @param {Line} line */
function addSecret({ type, round, digests }, line) {
  if (type === "reveal") {
    const secret = secretFor(line.link, digests);
    if (secret) line.send({ type: "secret", round, secret });
    else complain(t("proofBroken"));
    return;
  }
  const digest = digestFor(line.link, digests[0]), { again } = pledgeOf(line.link);
  if (digest) {
    line.send({ type: "commit", round, digest });
    if (again) complain(t("begunAgain", { count: again }));
  } else {
    line.close();
    tell(t("company"), t("begunTooOften"));
  }
}

/** Say that something is wrong, in the open dialog if there is one. @param {string} sentence */
function complain(sentence) {
  if (showSeats) byId("dialog-error").textContent = sentence;
  else say(sentence, true);
}

/** Sit down at the seat of a link. @param {string} link @param {Page} page */
export function sitAt(link, page) {
  history.replaceState(null, "", `#seat=${link}`);
  const hear = (/** @type {any} */ message) => {
    if (message.file) noteEnd(link, message.file);
    if (message.type === "table" && message.start === null) {
      if (showSeats) showSeats(message.seats);
      else if (message.seats.some((/** @type {Seat} */ { name, here, stands_in }) => name !== null && !here && !stands_in)) void gathering(message, line);
    } else if (message.type === "table") {
      if (showSeats) byId("dialog").close("dealt");
      table = new HostedTable(message, line);
      page.sitDown(table);
    } else if (message.type === "sign") page.sign(message.seat, t("signs").split("|")[message.sign]);
    else if (message.type === "refused") {
      const sentence = REFUSED.includes(message.status) ? t(`refused${message.status}`) : message.error;
      if (message.final) tell(t("company"), sentence);
      else complain(sentence);
      table?.refused();
    } else {
      table?.hear(message);
      if (message.seats) showSeats?.(message.seats);
      if (message.seats) page.repaint();
    }
    if (message.type === "reveal" || message.start === null) addSecret(message, line);
  };
  const line = new Line(link, hear, () => say(t("lineCut"), true));
}

/** Wait until everybody has come. @param {{ seats: Seat[], seat: number }} told @param {Line} line */
async function gathering({ seats, seat }, line) {
  if (await company(seats, seat, line, "gathering", [["leave", t("leaveTable")]]) === "dealt") return;
  line.close();
  history.replaceState(null, "", location.pathname);
}

/** Show who is at the table, and say something. @param {HostedTable} at */
export async function companyDialog(at) {
  const signs = element("div", { class: "signs" }, ...t("signs").split("|").map((sign, k) => {
    const button = element("button", { type: "button" }, sign);
    button.addEventListener("click", () => {
      at.line.send({ type: "sign", sign: k });
      byId("dialog").close("");
    });
    return button;
  }));
  await company(at.seats, at.seat, at.line, "company", [["", t("close")]], signs);
}

/**
 * @param {Seat[]} seats @param {number} own @param {Line} line @param {string} title @param {[string, string][]} buttons @param {(Node | string)[]} more
 */
async function company(seats, own, line, title, buttons, ...more) {
  const list = element("ul", { class: "games" }), links = linksBeside(line.link);
  showSeats = (now) => {
    if (list.querySelector("input:focus")) return; // others come and go while a name is written
    list.replaceChildren(...now.flatMap((seat, k) => (seat.name === null ? [] : [lineOf(seat, k)])));
  };
  const lineOf = (/** @type {Seat} */ { name, here, silent, stands_in }, /** @type {number} */ k) => {
    const state = k === own ? t("you") : t(here ? "isHere" : stands_in ? "standsIn" : "isAway");
    const row = element("li", {}, element("span", {}, `${t("seatNumber", { number: k + 1 })}: `, element("bdi", {}, name ?? ""), ` · ${state}`));
    const act = (/** @type {string} */ word, /** @type {() => void} */ does) => {
      const button = element("button", { type: "button" }, t(word));
      button.addEventListener("click", does);
      row.append(button);
    };
    if (k === own) act("rename", () => rename(row, name ?? "", line));
    else {
      if (links[k]) act("copySeat", () => void copy(addressOf(String(links[k]))));
      if ((!here || silent) && !stands_in) act("standIn", () => line.send({ type: "stand_in", seat: k }));
    }
    return row;
  };
  showSeats(seats);
  const chosen = await showDialog(t(title), [element("p", {}, t(`${title}Hint`)), list, ...more], buttons);
  showSeats = null;
  return chosen;
}

/** Let somebody write another name. @param {HTMLElement} row @param {string} name @param {Line} line */
function rename(row, name, line) {
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "text", maxlength: "24", "aria-label": t("yourName") }));
  const button = element("button", { type: "button" }, t("rename"));
  input.value = name;
  button.addEventListener("click", () => line.send({ type: "name", name: input.value }));
  row.replaceChildren(input, button);
  input.focus();
}
