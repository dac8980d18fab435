// @ts-check
/// <reference lib="webworker" />
/** Keeps the page's own files, and nothing else, for times without a network: what is newer on the network always wins. */
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (globalThis));
/** What `page.py` writes here. @type {{ version: string, files: string[], fetched: string[] }} */
const PAGE = JSON.parse("null");
const PREFIX = `fiveup ${worker.registration.scope} `, CACHE = PREFIX + PAGE.version; // a site may have several pages
const OWN = [...PAGE.files, ...PAGE.fetched]; // the files, and those that are kept once they were asked for

worker.addEventListener("install", (event) => {
  const files = PAGE.files.map((path) => new Request(path, { cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(files)).then(() => worker.skipWaiting()));
});

/** Drop what earlier versions kept. */
async function dropOld() {
  const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}
worker.addEventListener("activate", (event) => event.waitUntil(dropOld()));

/** @param {Request} request @param {string} path of the file, under which it is kept */
async function answer(request, path) {
  const cache = await caches.open(CACHE), fresh = await fetch(request).catch(() => null);
  if (!fresh) return await cache.match(path) ?? Response.error();
  if (fresh.ok && !fresh.redirected) await cache.put(path, fresh.clone()).catch(() => {}); // a full disk stops nothing
  return fresh;
}

worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request, { scope } = worker.registration;
  const path = url.slice(scope.length).replace(/[?#].*/, "").replace(/^(index\.html)?$/, ".");
  if (method === "GET" && url.startsWith(scope) && OWN.includes(path)) event.respondWith(answer(event.request, path));
});
