// Loading, which browsers and Node do alike but for how bytes are read.

/** Networks have their facts as an object, read once. */
function withFacts(bindings) {
  const known = new WeakMap();
  Object.defineProperty(bindings.Network.prototype, "facts", {
    configurable: true,
    get() {
      if (!known.has(this)) known.set(this, parsed(this.factsJson()));
      return known.get(this);
    },
  });
  return bindings;
}

/** Units are f32, and their digits the fewest that tell them apart. */
function parsed(json) {
  const facts = JSON.parse(json);
  facts.outputUnit = Math.fround(facts.outputUnit);
  facts.input.unit = Math.fround(facts.input.unit);
  return facts;
}

/**
 * @param {(name: string) => unknown} readModule what a module's `default` takes for one of this package's .wasm files
 * @param {(source: unknown) => Promise<Uint8Array>} readFile the bytes of a network
 */
export function loader(readModule, readFile) {
  const started = new Map();
  function start(name, imported) {
    if (!started.has(name)) {
      const starting = imported().then(async (bindings) => {
        await bindings.default({ module_or_path: await readModule(`${name}_bg.wasm`) });
        return withFacts(bindings);
      });
      started.set(name, starting);
      // What failed, because there was no connection for instance, is tried again at the next call.
      starting.catch(() => started.delete(name));
    }
    return started.get(name);
  }

  return async function load(source) {
    const [bytes, usual] = await Promise.all([readFile(source), start("bindings", () => import("./bindings.js"))]);
    try {
      return new usual.Network(bytes);
    } catch (error) {
      if (!error.needsGeneral) throw error;
    }
    const general = await start("general", () => import("./general.js"));
    return new general.Network(bytes);
  };
}

/** The bytes of what browsers and Node both know. */
export async function bytesOf(source) {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  let response = source;
  if (!(response instanceof Response)) {
    if (typeof source !== "string" && !(source instanceof URL) && !(source instanceof Request)) {
      throw new TypeError("load takes a URL, a Request, a Response, a Blob, an ArrayBuffer or a Uint8Array");
    }
    response = await fetch(source);
  }
  if (!response.ok) throw new Error(`${response.url}: HTTP ${response.status} ${response.statusText}`.trimEnd());
  return new Uint8Array(await response.arrayBuffer());
}
