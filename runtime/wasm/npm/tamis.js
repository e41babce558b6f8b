// For browsers, and what behaves like them.
import { bytesOf, loader } from "./core.js";

// wasm-bindgen's own default finds the module beside the file that asks for it, which bundlers understand.
export const load = loader(() => undefined, bytesOf);
