// @ts-check
/** What every worker does: it answers what it is asked, or says why not. */
import { Refused } from "./errors.js";
import { FiveUpError } from "./fiveup.mjs";

/** Answer from now on. @param {Record<string, (asked: any) => any>} tasks */
export function serve(tasks) {
  addEventListener("message", async ({ data }) => {
    try {
      postMessage({ id: data.id, found: await tasks[data.what](data.asked) });
    } catch (error) {
      postMessage({ id: data.id, error: String(error instanceof Error ? error.message : error), isRefused: error instanceof FiveUpError || error instanceof Refused });
    }
  });
  postMessage("ready");
}
