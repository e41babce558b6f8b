// Networks that nobody can draw an input for: from a file, as the network stores it, one example behind the other.
import { element, fill } from "./dom.js";
import { showAnswers, showLayers, traced } from "./layers.js";
import { shapeText } from "./facts.js";
import { bytesOf } from "./core.js";

const ARRAYS = { u8: Uint8Array, i8: Int8Array, f32: Float32Array };

export async function given(parent, network, known) {
  const { input } = network.facts;
  const Elements = ARRAYS[input.element];
  if (input.kind !== "dense" || !Elements) {
    const takes = input.kind === "dense" ? input.element : `lists of ${input.size} features`;
    const words = `This page has nothing to give to a network that takes ${takes}; the npm package runs it.`;
    fill(parent, element("h2", {}, "Run"), element("p", {}, words));
    return;
  }
  const chosen = element("select", { id: "example" });
  const answer = element("output", { class: "answer", id: "answer", for: "example" }, "–");
  const answers = element("ol", { class: "answers", "aria-label": "Outputs" });
  const layers = element("div", { class: "layers" });
  const problem = element("p", { class: "refused", role: "alert", hidden: true });
  let examples = [];

  function run() {
    const values = examples[chosen.selectedIndex];
    const best = showAnswers(answers, network.run(values).reals, known.answers);
    answer.textContent = known.answers?.[best] ?? String(best);
    showLayers(layers, traced(network, values, network.trace(values)));
  }

  /** Cuts a file into examples, which it must hold whole. */
  function take(bytes, name) {
    const len = input.size * Elements.BYTES_PER_ELEMENT;
    problem.hidden = bytes.length > 0 && bytes.length % len === 0;
    if (!problem.hidden) {
      problem.textContent = `${name}: ${bytes.length} bytes; an example of ${shapeText(input.shape)} ${input.element} has ${len}, and a file holds whole ones.`;
      return;
    }
    examples = [];
    for (let start = 0; start < bytes.length; start += len) examples.push(new Elements(bytes.slice(start, start + len).buffer));
    fill(chosen, ...examples.map((_, index) => element("option", {}, `${name}, example ${index + 1}`)));
    run();
  }

  chosen.addEventListener("change", run);
  const file = element("input", {
    type: "file",
    onchange: async ({ target }) => {
      if (target.files.length > 0) take(await bytesOf(target.files[0]), target.files[0].name);
    },
  });
  fill(
    parent,
    element("h2", {}, "Run"),
    element(
      "div",
      { class: "pair" },
      element(
        "div",
        { class: "stack" },
        element("label", { class: "field" }, element("span", {}, "Example"), chosen),
        element("label", { class: "field" }, element("span", {}, "Or a file of examples"), file),
        problem,
        element(
          "p",
          { class: "note" },
          `A file has ${shapeText(input.shape)} ${input.element} an example, as the network stores them, one example behind the other.`,
        ),
      ),
      element("div", {}, element("p", { class: "result" }, element("span", { class: "quiet" }, "Answer"), answer), answers),
    ),
    element("h3", {}, "Layer by layer"),
    layers,
  );
  if (known.inputs) take(await bytesOf(known.inputs.file), known.name);
  else take(new Uint8Array(input.size * Elements.BYTES_PER_ELEMENT), "Zeros");
}
