// @ts-check
/** Games from files: chosen, or dropped onto the page. */
import { byId, say, sentenceOf } from "./shared.js";
import { kept, put } from "./store.js";
import { Table, gamesIn } from "./table.js";
import { t } from "./words.js";

/** Name who shows the last game of a file, once all are kept. @param {(table: Table) => void} show */
export function onFile(show) {
  const read = async (/** @type {File} */ file) => {
    try {
      const games = gamesIn(await file.text());
      for (const game of games) if (!kept(game.id)) put(game);
      show(new Table(games[games.length - 1]));
    } catch (error) {
      say(t("badFile", { name: file.name, why: sentenceOf(error) }), true);
    }
  };
  byId("file").addEventListener("change", () => {
    const [file] = byId("file").files;
    byId("file").value = "";
    if (file) void read(file);
  });
  for (const kind of ["dragover", "drop"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      const [file] = kind === "drop" ? /** @type {DragEvent} */ (event).dataTransfer?.files ?? [] : [];
      if (file) void read(file);
    });
  }
}
