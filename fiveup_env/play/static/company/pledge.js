// @ts-check
/** What this browser has committed to before a deal, so that nobody can choose the tiles. */
import { digestOf, freshSecret } from "../proof.js";
import { remember, remembered } from "../store.js";
import { Table, gamesIn } from "../table.js";

/** @typedef {{ link: string, dealer: string, secret: string, digests?: string[], over?: boolean, again: number }} Pledge digests: those of all, once the secret was given; over: whether the game was played to its end; again: how often another secret was asked for before that */

const MOST_AGAIN = 3; // whoever hosts could choose the best of so many deals, and one more
/** @type {Pledge} */
let pledge = { link: "", dealer: "", secret: "", again: 0 };

/** What this browser has committed to at the seat of a link. @param {string} link @returns {Pledge} */
export function pledgeOf(link) {
  if (pledge.link !== link) pledge = { again: 0, dealer: "", secret: "", ...JSON.parse(remembered(`pledge:${link}`, "{}")), link };
  return pledge;
}

const keep = () => remember(`pledge:${pledge.link}`, JSON.stringify(pledge));

/** Return the whole game in a file, as a table of one's own; null if it breaks the rules. @param {object} file */
export function localOf(file) {
  try { return new Table(gamesIn(JSON.stringify(file))[0]); } catch { return null; }
}

/** Note that a game is over, if it is the one of the pledge. @param {string} link @param {object} file */
export function noteEnd(link, file) {
  const { digests } = pledgeOf(link), local = localOf(file);
  if (!digests || !local?.isOver || String(local.digests) !== String(digests)) return;
  pledge.over = true;
  keep();
}

/** Return the digest of a secret for a deal; null if too many were begun in vain. @param {string} link @param {string} dealer its digest */
export function digestFor(link, dealer) {
  const { digests, over, again } = pledgeOf(link);
  if (pledge.dealer !== dealer) pledge = { link, dealer, secret: freshSecret(), again: over ? 0 : again + Number(Boolean(digests)) };
  keep();
  return pledge.again > MOST_AGAIN ? null : digestOf(pledge.secret);
}

/** Return the secret, now that all have committed; null if this is not what was committed to, or not what was shown before. @param {string} link @param {string[]} all digests, the dealer's first */
export function secretFor(link, all) {
  const { dealer, secret, digests = all } = pledgeOf(link);
  if (all[0] !== dealer || !all.includes(digestOf(secret)) || String(all) !== String(digests)) return null;
  pledge.digests = all;
  keep();
  return secret;
}
