// For Node: text that is no address of the web is a path.
import { readFile } from "node:fs/promises";
import { bytesOf, loader } from "./core.js";

const isOfTheWeb = (source) => /^(https?|data|blob):/i.test(String(source));

function read(source) {
  const isPath = typeof source === "string" || source instanceof URL;
  return isPath && !isOfTheWeb(source) ? readFile(source) : bytesOf(source);
}

export const load = loader((name) => readFile(new URL(name, import.meta.url)), read);
