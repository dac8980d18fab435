// @ts-check
/** A deal that can be proved: its seed comes from secrets to which everybody committed before, as in Python. */
import { Refused } from "./errors.js";
import { sha256 } from "./sha256.js";

/** @typedef {{ digests: string[], secrets: string[] }} Proof the dealer's first, then those of people at their own browsers */

export const freshSecret = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
/** The digest that commits to a secret. @param {string} secret */
export const digestOf = (secret) => sha256(`fiveup-secret ${secret}`);
/** The seed that follows from all secrets. @param {string[]} secrets */
export const seedFrom = (secrets) => String(BigInt(`0x${sha256(`fiveup-seed ${secrets.join(" ")}`).slice(0, 16)}`));

/** Return a proof that one has of a new deal. @returns {Proof} */
export function freshProof() {
  const secret = freshSecret();
  return { digests: [digestOf(secret)], secrets: [secret] };
}

/** Refuse what does not prove a seed. @param {any} proof @param {string} seed */
export function checkProof(proof, seed) {
  const { digests, secrets } = proof ?? {};
  const isList = Array.isArray(secrets) && secrets.length > 0 && Array.isArray(digests);
  if (!isList || !secrets.every((secret) => typeof secret === "string" && /^[0-9a-z]{20,64}$/.test(secret))) throw new Refused("proof: secrets are 20 to 64 letters and digits");
  if (digests.join() !== secrets.map(digestOf).join()) throw new Refused("proof: the secrets do not have these digests");
  if (seedFrom(secrets) !== seed) throw new Refused("proof: the seed does not follow from the secrets");
}

/** What a link holds of a proof. @param {Proof} proof */
export const proofText = ({ digests, secrets }) => `${secrets.join(".")}~${digests.join(".")}`;
/** @param {string} text @returns {Proof} */
export function proofIn(text) {
  const [secrets = "", digests = ""] = text.split("~");
  return { secrets: secrets.split("."), digests: digests.split(".") };
}
