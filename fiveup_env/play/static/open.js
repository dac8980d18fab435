"use strict";
// The study with its server: opens records, waits for verdicts, saves them, plays on.

let opened = null; // the name of the study
let records = []; // lines of the file, or numbers of games that the server has

function complain(error) {
  byId("open").hidden = false;
  byId("open-error").textContent = error.message;
}

function offer(found) {
  records = found;
  byId("open-error").textContent = "";
  byId("open").hidden = false;
  byId("number").max = found.length - 1;
  byId("number").value = 0;
  byId("which").hidden = found.length < 2;
  if (found.length === 1) begin(0);
}

async function begin(number) {
  try {
    const chosen = records[number];
    if (chosen === undefined) throw new Error(`there is no game ${number} of ${records.length}`);
    const body = typeof chosen === "number" ? { game: chosen } : { record: JSON.parse(chosen) };
    location.hash = (await ask("studies", body)).study;
  } catch (error) {
    complain(error instanceof SyntaxError ? new Error("this line is not a record") : error);
  }
}

async function follow(name) {
  opened = name;
  try {
    study.open(await ask(`studies/${name}`));
    byId("open").hidden = true;
    for (const id of ["live", "html", "json", "another", "on"]) byId(id).hidden = false;
    byId("html").href = `/api/studies/${name}/study.html`;
    byId("json").href = `/api/studies/${name}/study.json`;
    for (;;) {
      const answer = await ask(`studies/${name}/verdicts`);
      if (opened !== name) return;
      if (answer.verdicts) return study.judged(answer.verdicts);
      study.progress(answer.done / answer.total);
      await new Promise((done) => { setTimeout(done, 400); });
    }
  } catch (error) { complain(error); }
}

async function read(file) {
  if (!file) return;
  offer((await file.text()).split("\n").filter((line) => line.trim()));
}

async function playOn() {
  try {
    const answer = await ask(`studies/${opened}/table`, {
      move: study.move(), opponents: byId("against").value.trim(),
    });
    location.href = `/#${answer.table}`;
  } catch (error) { byId("said").textContent = error.message; }
}

async function start() {
  const name = location.hash.slice(1);
  if (name) return follow(name);
  const { games } = await ask("choices");
  byId("live").hidden = false;
  for (const id of ["play", "verdicts"]) byId(id).hidden = true;
  byId("open").hidden = false;
  if (games) offer([...Array(games).keys()]);
}

byId("file").addEventListener("change", () => read(byId("file").files[0]));
byId("judge").addEventListener("click", () => begin(Number(byId("number").value)));
byId("another").addEventListener("click", () => { location.hash = ""; byId("open").hidden = false; });
byId("from-here").addEventListener("click", playOn);
document.addEventListener("keydown", (event) => {
  if (event.key === "p" && opened && event.target.tagName !== "INPUT") playOn();
});
for (const kind of ["dragover", "drop", "dragleave"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    byId("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") read(event.dataTransfer.files[0]).catch(complain);
  });
}
addEventListener("hashchange", () => { if (location.hash.slice(1)) follow(location.hash.slice(1)); });
start().catch(complain);
