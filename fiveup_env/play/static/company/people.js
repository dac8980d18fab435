// @ts-check
/** Several people at one screen: who sits where, and the cover while it is passed on. */
import { field, showDialog } from "../dialogs.js";
import { element } from "../shared.js";
import { t } from "../words.js";

/** The fields in which people are named. @param {(string | null)[] | undefined} usual */
export function peopleFields(usual) {
  const names = [0, 1, 2, 3, 4].map((seat) => {
    const input = /** @type {HTMLInputElement} */ (element("input", { type: "text", id: `person-${seat}`, maxlength: "24", autocomplete: "off" }));
    input.value = usual?.[seat] ?? "";
    return input;
  });
  const fields = names.map((input, seat) => field(t("seatNumber", { number: seat + 1 }), input));
  const hint = element("p", { class: "hint" });
  return {
    element: element("details", usual ? { open: "" } : {}, element("summary", {}, t("people")), hint, ...fields),
    /** Show the seats of a game. @param {number} players @param {boolean} partners */
    settle(players, partners) {
      hint.textContent = `${t("peopleHint")}${partners ? ` ${t("peoplePartners")}` : ""}`;
      fields.forEach((one, seat) => { one.hidden = seat >= players; });
    },
    /** The name at every seat, null where a level plays; undefined if nobody else was named. @param {number} players */
    people(players) {
      const [own, ...others] = names.slice(0, players).map((input) => input.value.trim() || null);
      return others.some(Boolean) ? [own ?? t("seatNumber", { number: 1 }), ...others] : undefined;
    },
  };
}

/** Ask for the screen to be passed on; return whether the person who has it now wants to see the hand. @param {string} who */
export const cover = async (who) => (await showDialog(t("turnOf", { who }), [element("p", {}, t("passScreen", { who }))], [["show", t("showHand")]])) === "show";
