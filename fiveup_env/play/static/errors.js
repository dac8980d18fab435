// @ts-check
/** What goes wrong, as a sentence for whoever plays. */

/** Something that is refused, with the sentence that says why. */
export class Refused extends Error {}
