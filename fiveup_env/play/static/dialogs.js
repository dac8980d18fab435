// @ts-check
/** Dialogs: one at a time, with buttons; the menu, and questions before something is lost. */
import { LOOKS, currentLook, setLook } from "./looks.js";
import { byId, element } from "./shared.js";
import { isOn, setSound } from "./sound.js";
import { remember, remembered } from "./store.js";
import { TONGUES, currentTongue, t } from "./words.js";

/** End the promise of the dialog that was shown last. @type {(value: string) => void} */
let settle = () => {};

/**
 * Show a dialog, and return the value of the button that closed it; "" for Escape, or if another one takes its place.
 * @param {string} title @param {(Node | string)[]} body @param {[string, string][]} buttons value and sentence; the first is the main one
 * @param {(value: string) => Promise<boolean> | boolean} [accept] whether a button may close it
 * @returns {Promise<string>}
 */
export function showDialog(title, body, buttons, accept = () => true) {
  const dialog = byId("dialog");
  if (dialog.open) dialog.close("");
  settle(dialog.returnValue); // now, as browsers say only later that a dialog was closed
  byId("dialog-title").textContent = title;
  byId("dialog-body").replaceChildren(...body);
  byId("dialog-error").textContent = "";
  byId("dialog-menu").replaceChildren(...buttons.map(([value, name], k) => {
    const button = element("button", { value, class: k ? "" : "main" }, name);
    button.addEventListener("click", async (event) => {
      event.preventDefault();
      if (await accept(value) && button.isConnected) dialog.close(value);
    });
    return button;
  }));
  return new Promise((done) => {
    settle = done;
    dialog.returnValue = "";
    dialog.onclose = () => { if (!dialog.open) settle(dialog.returnValue); };
    dialog.showModal();
    byId("dialog-menu").querySelector("button")?.focus();
  });
}

export const confirmAgain = async () => (await showDialog(t("again"), [element("p", {}, t("confirmLeave"))], [["yes", t("yes")], ["", t("cancel")]])) === "yes";
export const confirmStudy = async () => (await showDialog(t("study"), [element("p", {}, t("confirmStudy"))], [["yes", t("yesStudy")], ["", t("cancel")]])) === "yes";
/** @param {string} title @param {string} sentence */
export const tell = (title, sentence) => void showDialog(title, [element("p", {}, sentence)], [["", t("close")]]);

/** Copy a text, and say so in the dialog; where that is not allowed, show it there. @param {string} text */
export async function copy(text) {
  const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  byId("dialog-error").textContent = copied ? t("copied") : text;
}

/** Return the name of the action that was chosen. */
export function menu() {
  const names = ["undo", "again", "study", "learn", "solved", "daily", "puzzles", "mistakes", "train", "progress", "games", "load", "proof", "side"];
  const sentences = { side: `${t("moves")}, ${t("eyes")}`, load: t("load") };
  const list = element("div", { class: "list" }, ...names.map((name) => {
    const button = element("button", { value: name }, sentences[/** @type {"side"} */ (name)] ?? t(name));
    button.addEventListener("click", () => byId("dialog").close(name));
    return button;
  }));
  const sound = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox", id: "sound" }));
  sound.checked = isOn();
  sound.addEventListener("change", () => setSound(sound.checked));
  const pace = select("pace-choice", [["1.6", t("slow")], ["1", t("normal")], ["0.4", t("fast")], ["0", t("atOnce")]], remembered("pace", "1"));
  pace.addEventListener("change", () => remember("pace", pace.value));
  const tongue = select("tongue", Object.entries(TONGUES).map(([name, words]) => [name, words.language]), currentTongue());
  tongue.addEventListener("change", () => byId("dialog").close(`speak:${tongue.value}`));
  const look = select("look", LOOKS.map((name) => [name, t(`look_${name}`)]), currentLook());
  look.addEventListener("change", () => setLook(look.value));
  const settings = [
    field(t("sound"), sound), field(t("pace"), pace), field(t("look"), look), field(t("tongue"), tongue), element("p", { class: "hint" }, t("about")),
  ];
  return showDialog(t("menu"), [list, ...settings], [["", t("close")]]);
}

/** @param {string} id @param {[string, string][]} options @param {string} chosen */
export function select(id, options, chosen) {
  const made = /** @type {HTMLSelectElement} */ (element("select", { id, name: id }, ...options.map(([value, name]) => element("option", { value }, name))));
  made.value = chosen;
  return made;
}

/** @param {string} name @param {Element} input @param {string} [hint] */
export function field(name, input, hint) {
  if (hint !== undefined) input.setAttribute("aria-describedby", `${input.id}-hint`);
  const label = element("label", { for: input.id }, name);
  return element("div", { class: "field" }, label, input, ...(hint === undefined ? [] : [element("p", { class: "hint", id: `${input.id}-hint` }, hint)]));
}
