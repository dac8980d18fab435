// @ts-check
/// <reference lib="webworker" />
/** Keeps the page for times without a network: what is newer on the network always wins. */
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (globalThis));
const CACHE = "fiveup";
const FILES = [
  ".", "app.js", "board.js", "card.js", "dialogs.js", "exercises.js", "eyes.js", "fiveup.json", "fiveup.mjs", "fiveup.wasm", "games.js",
  "icon.svg", "judging.js", "lessons.js", "levels.js", "manifest.webmanifest", "newgame.js", "puzzles.js", "puzzles.json", "reasons.js", "records.js", "server.js", "shared.js",
  "sound.js", "store.js", "study.js", "style.css", "table.js", "telling.js", "thinker.js", "thinkers.js", "tiles.js",
  "words.js", "words/de.js", "words/en.js",
];

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => worker.skipWaiting()));
});
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

/** @param {Request} request */
async function answer(request) {
  const cache = await caches.open(CACHE);
  try {
    const fresh = await fetch(request);
    if (fresh.ok) await cache.put(request, fresh.clone());
    return fresh;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const ours = url.startsWith(worker.registration.scope) && !new URL(url).pathname.includes("/api/");
  if (method === "GET" && ours) event.respondWith(answer(event.request));
});
