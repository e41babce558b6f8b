// The package as Node sees it, once it is installed: node package.mjs ROOT FOLDER
//
// ROOT is the repository, FOLDER has what `check` had host-tools print: positions.fen and positions.json, reals.json
// with examples and outputs of the digits network, and damaged.json with files and the words that refuse them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { load } from "tamis";

const [root, folder] = process.argv.slice(2);
const at = (...path) => join(root, ...path);
const made = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const text = (path) => readFileSync(path, "utf8").trim().split("\n");
const files = {
  digits: at("firmware-examples/programs/src/digits.quantised.bin"),
  keywords: at("firmware-examples/programs/src/keywords.quantised.bin"),
  chess: at("runtime/examples/engine/reference.quantised.bin"),
};

const tests = {
  async "every vector has the signature that all machines print"() {
    const rows = text(at("tests/vectors/signatures.txt")).slice(1);
    const corpus = at("tests/fuzz/corpus/loader");
    assert.equal(rows.length, readdirSync(corpus).filter((name) => name.endsWith(".bin")).length);
    for (const row of rows) {
      const [checksum, signature, file] = row.split(/\s+/);
      const net = await load(join(corpus, file));
      assert.deepEqual([net.facts.checksum, net.signature()], [checksum, signature], file);
      net.free();
    }
  },

  async "the firmware's images have the firmware's outputs"() {
    const net = await load(files.digits);
    const images = readFileSync(at("firmware-examples/programs/src/digits.images.bin"));
    const log = text(at("firmware-examples/programs/src/digits.out"));
    for (let digit = 0; digit < 10; digit++) {
      const pixels = Array.from(images.subarray(64 * digit, 64 * digit + 64), (count) => count / 16);
      const { stored, reals } = net.run(net.quantise(pixels));
      const best = stored.indexOf(Math.max(...stored));
      const line = `a ${digit} is classified as ${best}: [${Array.from(stored).join(", ")}]`;
      assert.equal(line, log[digit + 1]);
      assert.deepEqual(reals, Float64Array.from(stored, (value) => value * net.facts.outputUnit));
      assert.deepEqual(net.trace(net.quantise(pixels)).at(-1), stored);
    }
    assert.equal(`signature ${net.signature()}`, log.at(-1));
  },

  async "the keywords network is that of the boards"() {
    const net = await load(files.keywords);
    assert.ok(readFileSync(at("firmware-examples/programs/src/keywords.out"), "utf8").includes(net.signature()));
    assert.deepEqual(net.facts.input.shape, [49, 10, 1]);
    assert.deepEqual(net.facts.operations[0].outputShape, [25, 5, 64]);
    assert.equal(net.facts.operations[0].outputZero, -128);
  },

  async "positions are worth what host-tools prints"() {
    const net = await load(files.chess);
    const fens = text(join(folder, "positions.fen"));
    const values = made("positions.json").values;
    assert.ok(fens.length === values.length && fens.length >= 200);
    const found = fens.map((fen) => Array.from(net.evaluate(fen).reals));
    assert.deepEqual(found, values);
  },

  async "a share is the difference that host-tools would find"() {
    const net = await load(files.chess);
    for (const fen of text(join(folder, "positions.fen")).slice(0, 20)) {
      const seen = fen.split(" ")[1] === "b" ? -1 : 1;
      const { value, pieces } = net.shares(fen);
      assert.equal(value, seen * net.evaluate(fen).reals[0]);
      for (const { square, piece, share } of pieces) {
        const without = take(fen, square);
        if ("Kk".includes(piece)) assert.equal(share, null);
        else assert.equal(share, value - seen * net.evaluate(without).reals[0], `${fen} without ${square}`);
      }
    }
  },

  async "reals are rounded as host-tools rounds them"() {
    const net = await load(files.digits);
    const { examples, values } = made("reals.json");
    assert.deepEqual(examples.map((reals) => Array.from(net.run(net.quantise(reals)).reals)), values);
  },

  async "damaged files are refused in the loader's own words"() {
    for (const { bytes, words } of made("damaged.json")) {
      const file = Uint8Array.from(Buffer.from(bytes, "base64"));
      await assert.rejects(load(file), (error) => words.includes(error.message) || assert.fail(`${error} / ${words}`));
    }
    await assert.rejects(load(join(folder, "no-such.bin")), /no-such\.bin/);
    await assert.rejects(load(7), /load takes/);
  },

  async "what does not fit says what would"() {
    const digits = await load(files.digits);
    const chess = await load(files.chess);
    assert.throws(() => digits.run(new Int8Array(64)), /takes a Uint8Array of 64/);
    assert.throws(() => digits.run(new Uint8Array(63)), /63 elements; the network takes a Uint8Array of 64/);
    assert.throws(() => digits.run(undefined), /takes a Uint8Array of 64/);
    assert.throws(() => digits.run(new Uint8Array(64), 1), /output bucket 1; the network has 1/);
    assert.throws(() => digits.quantise([NaN, ...new Array(63).fill(0)]), /element 0 is not a number/);
    assert.throws(() => digits.evaluate("4k3/8/8/8/8/8/8/4K3 w"), /takes no chess positions/);
    assert.throws(() => digits.runFeatures(new Uint32Array(1)), /.+/);
    assert.throws(() => chess.run(new Uint8Array(64)), /call evaluate with a FEN/);
    assert.throws(() => chess.evaluate("8/8/8/8/8/8/8/8 w"), /white has 0 kings/);
    digits.free();
    assert.throws(() => digits.signature(), /null pointer|moved|freed/);
  },

  async "sparse networks and their own features run"() {
    const sparse = await load(at("tests/fuzz/corpus/loader/sparse-reals-without-values.bin"));
    assert.equal(sparse.facts.input.kind, "sparse");
    assert.equal(sparse.runSparse(Uint32Array.of(2, 5, 8)).stored.length, 3);
    assert.throws(() => sparse.runSparse(Uint32Array.of(5, 2)), /ascending order/);
    const tiny = await load(at("tests/vectors/tiny.bin"));
    assert.deepEqual(tiny.runFeatures(Uint32Array.of(0, 1), Uint32Array.of(2, 3)).stored, Int32Array.of(-187));
    assert.throws(() => tiny.runFeatures(Uint32Array.of(0, 1)), /two perspectives/);
  },

  async "networks of a web server are fetched and checked"() {
    const { createServer } = await import("node:http");
    const server = createServer((request, response) => {
      if (request.url === "/digits.bin") response.end(readFileSync(files.digits));
      else response.writeHead(404).end();
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}`;
    assert.equal((await load(new URL(`${url}/digits.bin`))).facts.name, "digits");
    assert.equal((await load(await fetch(`${url}/digits.bin`))).facts.name, "digits");
    assert.equal((await load(new Blob([readFileSync(files.digits)]))).facts.name, "digits");
    await assert.rejects(load(`${url}/other.bin`), /other\.bin: HTTP 404/);
    server.close();
  },

  async "memory is given back"() {
    const file = readFileSync(files.chess);
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 2000; round++) (await load(file)).free();
    assert.ok(process.memoryUsage().rss - before < 64e6);
  },

  async "every method has a type"() {
    const types = readFileSync(new URL("tamis.d.ts", import.meta.resolve("tamis")), "utf8");
    const prototype = Object.getPrototypeOf(await load(files.digits));
    // What the getter `facts` reads, and wasm-bindgen's own.
    const hidden = ["constructor", "factsJson", "__destroy_into_raw"];
    for (const name of Object.getOwnPropertyNames(prototype).filter((name) => !hidden.includes(name))) {
      assert.match(types, new RegExp(`^  (readonly )?${name}[(:]`, "m"), `${name} is not in tamis.d.ts`);
    }
    for (const [name] of types.matchAll(/(?<=^  )\w+(?=\(.*\): )/gm)) {
      assert.equal(typeof prototype[name], "function", name);
    }
  },
};

/** A FEN with a square emptied. */
function take(fen, square) {
  const [board, ...rest] = fen.split(" ");
  const ranks = board.split("/").map((rank) => rank.replace(/\d/g, (count) => " ".repeat(Number(count))));
  const row = 8 - Number(square[1]);
  const column = square.charCodeAt(0) - "a".charCodeAt(0);
  ranks[row] = `${ranks[row].slice(0, column)} ${ranks[row].slice(column + 1)}`;
  return [ranks.map((rank) => rank.replace(/ +/g, (empty) => String(empty.length))).join("/"), ...rest].join(" ");
}

for (const [name, test] of Object.entries(tests)) {
  await test().then(() => console.log(`ok: ${name}`), (error) => {
    process.exitCode = 1;
    console.log(`not ok: ${name}\n${error.stack}`);
  });
}
