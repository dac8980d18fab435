// @ts-check
/** What the browser keeps of training: the run that was trained last, and the agents that sit at tables. */

const RUN = "run", AGENTS_KEPT = 20;

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answered = (request) => new Promise((done, failed) => {
  request.onsuccess = () => done(request.result);
  request.onerror = () => failed(request.error);
});

/** Wait until what was written lies on the disk; a full one undoes it. @param {IDBObjectStore} store @returns {Promise<void>} */
const written = ({ transaction }) => new Promise((done, failed) => {
  transaction.oncomplete = () => done();
  transaction.onabort = () => failed(transaction.error);
});

/** @type {Promise<IDBDatabase> | null} */
let opened = null;

/** @param {IDBTransactionMode} mode */
async function parts(mode) {
  opened ??= (async () => {
    const request = indexedDB.open("fiveup", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("training");
    return answered(request);
  })();
  opened.catch(() => { opened = null; });
  return (await opened).transaction("training", mode).objectStore("training");
}

/** @param {Uint8Array} bytes @param {CompressionStream | DecompressionStream} through */
const piped = async (bytes, through) => new Uint8Array(await new Response(new Blob([/** @type {BufferSource} */ (bytes)]).stream().pipeThrough(through)).arrayBuffer());

/** Keep a run with the bytes of what it trains. @param {any} run @param {Uint8Array[]} bytes */
export async function keepRun(run, bytes) {
  const packed = await Promise.all(bytes.map((one) => piped(one, new CompressionStream("gzip"))));
  const store = await parts("readwrite");
  store.put({ run, packed }, RUN);
  await written(store);
}

/** Return the run that was kept, or null. @returns {Promise<{ run: any, bytes: Uint8Array[] } | null>} */
export async function runKept() {
  const found = await answered((await parts("readonly")).get(RUN));
  return found ? { run: found.run, bytes: await Promise.all(found.packed.map((/** @type {Uint8Array} */ one) => piped(one, new DecompressionStream("gzip")))) } : null;
}

export const forgetRun = async () => answered((await parts("readwrite")).delete(RUN));

/** Keep an agent for tables, and return the level that it is; the oldest make room. @param {Uint8Array} bytes */
export async function keepAgent(bytes) {
  const level = `trained:${Date.now().toString(36)}`, store = await parts("readwrite");
  store.put(bytes, level);
  const keys = store.getAllKeys();
  keys.onsuccess = () => {
    for (const old of keys.result.filter((key) => key !== RUN).sort().slice(0, -AGENTS_KEPT)) store.delete(old);
  };
  await written(store);
  return level;
}

/** Return the bytes of an agent that was kept. @param {string} level @returns {Promise<Uint8Array>} */
export async function agentKept(level) {
  const bytes = await answered((await parts("readonly")).get(level));
  if (!bytes) throw new Error(`${level} is not kept`);
  return bytes;
}
