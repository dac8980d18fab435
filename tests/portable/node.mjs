// node node.mjs BINDING FOLDER: answer the cases of a folder, and print the answers.
import { readFileSync } from "node:fs";

import { answers } from "./cases.mjs";

const [binding, folder] = process.argv.slice(2);
const fiveup = await import(binding), learning = await import(binding.replace("fiveup.mjs", "learning.mjs"));
const cases = JSON.parse(readFileSync(`${folder}/cases.json`, "utf8"));
const policies = {};
for (const name of cases.policies) policies[name] = new fiveup.Policy(readFileSync(`${folder}/${name}.weights`));
console.log(JSON.stringify(await answers({ ...fiveup, ...learning }, cases, policies)));
