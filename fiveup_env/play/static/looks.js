// @ts-check
/** How the tiles look: a choice that the browser keeps, and the style sheet paints. */
import { remember, remembered } from "./store.js";

export const LOOKS = ["ivory", "ebony", "colours"];

export const currentLook = () => remembered("tiles", LOOKS[0]);

/** @param {string} name one of LOOKS */
export function setLook(name) {
  document.documentElement.dataset.tiles = name;
  remember("tiles", name);
}

document.documentElement.dataset.tiles = currentLook();
