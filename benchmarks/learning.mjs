// node learning.mjs BINDING SETTINGS SECONDS: learn for some seconds; print the decisions in a second.
const [binding, settings, seconds] = process.argv.slice(2);
const { Training } = await import(binding);
const run = new Training(JSON.parse(settings));
run.update();
const before = run.decisions, start = performance.now();
while (performance.now() - start < 1000 * Number(seconds)) run.update();
console.log((run.decisions - before) / ((performance.now() - start) / 1000));
