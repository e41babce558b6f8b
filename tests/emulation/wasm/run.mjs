// Runs the module of this folder: node run.mjs MODULE.wasm CONTAINER...
// The log goes to standard output; the exit status is 0 if it was written to its end.
import { readFileSync, writeSync } from "node:fs";
import { basename } from "node:path";

const PAGE = 65536;
const [file, ...containers] = process.argv.slice(2);

const decoder = new TextDecoder("utf-8", { fatal: true });
const host = {
  print(text, len) {
    writeSync(1, decoder.decode(new Uint8Array(exports.memory.buffer, text, len)));
  },
  stop() {
    throw new Error("the module panicked");
  },
};
const { exports } = (await WebAssembly.instantiate(readFileSync(file), { host })).instance;

// Pages that the module has not asked for are ours. A page starts at a multiple of 64, as a container must.
function place(bytes) {
  const start = exports.memory.grow(Math.ceil(bytes.length / PAGE)) * PAGE;
  new Uint8Array(exports.memory.buffer).set(bytes, start);
  return start;
}

exports.suites();
for (const container of containers) {
  const bytes = readFileSync(container);
  const name = Buffer.from(basename(container, ".bin"));
  exports.model(place(name), name.length, place(bytes), bytes.length);
}
exports.end();
