// What the file says of its network.
import { count, element, fill } from "./dom.js";

const find = (id) => document.getElementById(id);

/** A shape as people write it: a vector by its length. */
export function shapeText([height, width, channels]) {
  return height === 1 && width === 1 ? count(channels) : [height, width, channels].join(" × ");
}

const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

function inputText({ input, chess }) {
  if (chess) {
    const buckets = chess.kingBuckets === 1 ? "" : ` × ${plural(chess.kingBuckets, "king bucket")}`;
    const more = [chess.mirrored && "mirrored", chess.kings !== "both" && `kings ${chess.kings}`, chess.relations];
    const features = `${chess.featuresPerKingBucket} features of pieces${buckets}`;
    return [features, ...more.filter(Boolean)].join(", ") + `; ${input.perspectives} accumulators of ${input.hidden}`;
  }
  if (input.kind === "dense") return `${shapeText(input.shape)} ${input.element}, one step is ${short(input.unit)}`;
  const some = input.exact ? `exactly ${input.maxActive}` : `at most ${input.maxActive}`;
  return `${plural(input.size, "feature")}, ${some} at once`;
}

/** Few digits. */
const short = (value) => String(Number(value.toPrecision(4)));

function outputText(facts) {
  const buckets = facts.outputBuckets === 1 ? "" : `, in ${facts.outputBuckets} buckets`;
  return `${facts.outputs} ${facts.outputElement}${buckets}; one step is ${short(facts.outputUnit)}`;
}

/** A claim in words. */
const CLAIMS = {
  "accumulator-fits": "no accumulator leaves 16 bits",
  "sum-fits": "no sum leaves 32 bits",
  "product-fits-i16": "every product fits 16 bits",
  "quads-fit-i16": "four products fit 16 bits together",
};
/** Those that are about overflow; the others let faster kernels run. */
const SAFETY = ["accumulator-fits", "sum-fits"];

function showClaims({ tensors, operations, input }) {
  const claiming = tensors.filter((tensor) => tensor.claims.length > 0);
  const item = (tensor, claim) => element("li", {}, element("code", {}, tensor.name), ` ${CLAIMS[claim] ?? claim}`);
  fill(find("claims"), ...claiming.flatMap((tensor) => tensor.claims.map((claim) => item(tensor, claim))));
  // Weights that integers are multiplied by, and rows that accumulators are summed from.
  const multiplied = new Set(operations.map((operation) => operation.weights));
  const isSummed = (tensor) =>
    tensor.element.startsWith("i") && (multiplied.has(tensor.name) || (input.hidden > 0 && tensor === tensors[0]));
  const summed = tensors.filter(isSummed);
  const open = summed.filter((tensor) => !tensor.claims.some((claim) => SAFETY.includes(claim)));
  find("claimed").textContent =
    summed.length === 0
      ? "This network adds no integers that a proof would be about."
      : open.length === 0
        ? `All ${plural(summed.length, "tensor")} that sums are made of: proved not to overflow.`
        : `Not claimed for ${open.map((tensor) => tensor.name).join(", ")}: those sums may wrap.`;
}

function showOperations({ operations }) {
  const source = (value) => (value === 0 ? "input" : `#${value}`);
  const rows = operations.map((operation) => {
    const reads = [operation.input, operation.second].filter((value) => value !== null).map(source);
    const cells = [
      reads.join(", "),
      `${shapeText(operation.outputShape)} ${operation.outputElement}`,
      operation.weights ?? "",
      operation.activation ?? "",
    ];
    return element(
      "tr",
      {},
      element("td", { class: "quiet" }, `#${operation.output}`),
      element("th", { scope: "row" }, operation.kind),
      ...cells.map((text) => element("td", {}, text)),
    );
  });
  fill(find("operations"), ...rows);
  const isPlain = operations.every((operation) => !operation.activation);
  find("operations").parentElement.classList.toggle("without-activation", isPlain);
}

function showTensors({ tensors }) {
  const rows = tensors.map((tensor) => {
    const shape = `${tensor.banks > 1 ? `${tensor.banks} × ` : ""}(${tensor.rows}, ${tensor.cols})`;
    const cells = [tensor.element, shape, tensor.layout].map((text) => element("td", {}, text));
    const bytes = element("td", { class: "number" }, count(tensor.lenBytes));
    return element("tr", {}, element("th", { scope: "row" }, tensor.name), ...cells, bytes);
  });
  fill(find("tensors"), ...rows);
}

/** The signature beside the native one, which is known of the page's own networks and else asked for. */
function showSignature(network, known) {
  const here = network.signature();
  find("here").textContent = here;
  find("here-name").textContent = `Here, ${network.facts.tier}`;
  const native = find("native");
  native.value = known.signature ?? "";
  native.readOnly = known.signature !== undefined;
  find("native-label").textContent = known.signature ? "Natively" : "Natively (paste)";
  const compare = () => {
    const wanted = native.value.trim().toLowerCase();
    const isWhole = /^[0-9a-f]{16}$/.test(wanted);
    const verdict = find("verdict");
    verdict.dataset.verdict = isWhole ? (wanted === here ? "equal" : "differs") : "open";
    verdict.textContent = isWhole
      ? wanted === here
        ? "Equal: the same bits as natively"
        : "They differ: another file, or a fault; compare the checksums first"
      : "host-tools inspect FILE prints the native one; paste it to compare";
  };
  native.oninput = compare;
  compare();
}

export function showFacts(network, known) {
  const { facts } = network;
  const rows = [
    ["Name", facts.name],
    ["Takes", inputText(facts)],
    ["Gives", outputText(facts)],
    ["Length", `${count(facts.lenBytes)} bytes`],
    ["Scratch", `${count(facts.workspaceLenBytes)} bytes`],
    ["Made of", `${facts.source}, ${facts.sourceHash}`],
    ["Checksum", facts.checksum],
  ];
  const row = ([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
  fill(document.getElementById("facts"), ...rows.map(row));
  showSignature(network, known);
  showClaims(facts);
  showOperations(facts);
  showTensors(facts);
  find("description").textContent = facts.description;
}
