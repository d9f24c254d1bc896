// Prints the installed version of a package of this directory.
import { readFileSync } from "node:fs";

const name = process.argv[2];
const path = new URL(`./node_modules/${name}/package.json`, import.meta.url);
console.log(name, JSON.parse(readFileSync(path, "utf8")).version, "on node", process.version);
