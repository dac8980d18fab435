// @ts-check
/** What is shown of a proof: the digests before a game, its seed afterwards, and a link that checks it. */
import { copy, showDialog, tell } from "./dialogs.js";
import { checkProof, proofIn, proofText, seedFrom } from "./proof.js";
import { element, sentenceOf } from "./shared.js";
import { t } from "./words.js";

/** @param {string[]} digests */
const rows = (digests) => digests.map((digest) => element("p", { class: "digest" }, digest));

/** @param {import("./table.js").Table} table */
const againLines = ({ begunAgain: count }) => (count ? [element("p", { class: "lost" }, t("begunAgain", { count }))] : []);

/** What the card of a game that is over says of its deal. @param {import("./table.js").Table} table @returns {HTMLElement[]} */
export function proofLines(table) {
  if (!table.digests.length) return table.hash ? [element("p", { class: "hint" }, t("leftOut"))] : [];
  return [element("p", { class: table.isProved ? "hint" : "lost" }, t(table.isProved ? "proved" : "proofBroken")), ...againLines(table)];
}

/** Show the digests of a game, and its seed once it is over. @param {import("./table.js").Table} table */
export async function proofDialog(table) {
  const { digests, local } = table, proof = table.isOver ? local?.saved.proof : undefined;
  if (!digests.length) return tell(t("proof"), t(table.hash ? "leftOut" : "noProof"));
  const body = [element("p", {}, t("proofBefore")), ...rows(digests)];
  if (table.isOver) body.push(...proofLines(table), ...(proof ? [element("p", {}, t("seedIs", { seed: seedFrom(proof.secrets) }))] : []));
  else body.push(...againLines(table));
  await showDialog(t("proof"), body, [["", t("close")], ...(proof ? /** @type {[string, string][]} */ ([["link", t("copyProof")]]) : [])], async (value) => {
    if (value !== "link" || !proof) return true;
    await copy(`${location.origin}${location.pathname}#proof=${proofText(proof)}`);
    return false;
  });
}

/** Check the proof that a link holds. @param {string} text */
export function checkLink(text) {
  const proof = proofIn(text);
  let verdict = t("proofHolds");
  try { checkProof(proof, seedFrom(proof.secrets)); } catch (error) { verdict = sentenceOf(error); }
  void showDialog(t("proof"), [element("p", {}, verdict), ...rows(proof.digests), element("p", {}, t("seedIs", { seed: seedFrom(proof.secrets) }))], [["", t("close")]]);
}
