// A sheet to draw on, for networks that take a small square picture.
//
// The drawing becomes a picture as the training data of the digits did: it is moved and scaled, not stretched, until it
// fills the height (or the width, if it is wider than high), its pen is as thick as theirs, and the ink in each cell is
// counted in sixteenths. What a count means to the network is the runtime's to say (`quantise`).
import { element, fill } from "./dom.js";
import { showAnswers, showLayers, traced } from "./layers.js";
import { bytesOf } from "./core.js";

/** Steps of ink in a cell. */
const STEPS = 16;
/** Dots of the count along a cell's side. */
const DOTS = 16;
/** The pen on the page, and in the counted picture, in cells. */
const PEN = 1.3;
/** How far a key moves the pen, of the sheet's side. */
const KEY_STEP = 1 / 24;

/** The ink in each of `side` × `side` cells, in 0 to 1, of strokes of points in any unit; nothing without a stroke. */
export function inkOf(strokes, side) {
  const points = strokes.flat();
  if (points.length === 0) return new Array(side * side).fill(0);
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const canvas = element("canvas", { width: side * DOTS, height: side * DOTS });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const room = (side - PEN) * DOTS;
  const scale = room / Math.max(width, height, 1e-9);
  const isDot = width === 0 && height === 0;
  const place = ([x, y]) => [
    (isDot ? 0 : (x - left - width / 2) * scale) + (side * DOTS) / 2,
    (isDot ? 0 : (y - top - height / 2) * scale) + (side * DOTS) / 2,
  ];
  trace(context, strokes.map((stroke) => stroke.map(place)), PEN * DOTS);
  const { data } = context.getImageData(0, 0, side * DOTS, side * DOTS);
  const ink = new Array(side * side).fill(0);
  for (let dot = 0; dot < data.length / 4; dot++) {
    const [column, row] = [dot % (side * DOTS), Math.floor(dot / (side * DOTS))];
    if (data[4 * dot + 3] >= 128) ink[side * Math.floor(row / DOTS) + Math.floor(column / DOTS)] += 1;
  }
  return ink.map((dots) => Math.round((STEPS * dots) / (DOTS * DOTS)) / STEPS);
}

function trace(context, strokes, width) {
  Object.assign(context, { lineWidth: width, lineCap: "round", lineJoin: "round" });
  context.beginPath();
  for (const [first, ...rest] of strokes) {
    context.moveTo(...first);
    // A line to its own start is a dot.
    for (const point of rest.length > 0 ? rest : [first]) context.lineTo(...point);
  }
  context.stroke();
}

/** A picture of `side` × `side` reals, as dark as each is beside the greatest. */
function paintCells(context, reals, side) {
  const [width, height] = [context.canvas.width / side, context.canvas.height / side];
  const greatest = Math.max(...reals, 1e-9);
  context.fillStyle = context.strokeStyle;
  reals.forEach((value, cell) => {
    context.globalAlpha = Math.max(0, value / greatest);
    context.fillRect((cell % side) * width, Math.floor(cell / side) * height, width, height);
  });
  context.globalAlpha = 1;
}

export async function draw(parent, network, known) {
  const side = Math.round(Math.sqrt(network.facts.input.size));
  const sheet = element("canvas", {
    class: "sheet",
    width: 480,
    height: 480,
    tabindex: 0,
    role: "application",
    "aria-label": "Sheet. Arrow keys move the pen, Space lowers and lifts it, Delete clears.",
    "aria-describedby": "how",
  });
  const answer = element("output", { class: "answer", id: "answer", for: "sheet" }, "–");
  const answers = element("ol", { class: "answers", "aria-label": "Outputs" });
  const layers = element("div", { class: "layers" });
  const samples = element("div", { class: "samples", role: "group", "aria-label": "Samples" });
  let strokes = [];
  /** A sample that lies on the sheet in place of strokes: its reals, row by row. */
  let sample = null;
  let pen = { at: [0.5, 0.5], isDown: false, isShown: false };

  function paint() {
    const context = sheet.getContext("2d");
    context.clearRect(0, 0, sheet.width, sheet.height);
    context.strokeStyle = getComputedStyle(sheet).color;
    const scaled = ([x, y]) => [x * sheet.width, y * sheet.height];
    if (sample) paintCells(context, sample, side);
    trace(context, strokes.map((stroke) => stroke.map(scaled)), sheet.width / 14);
    if (!pen.isShown) return;
    context.beginPath();
    context.arc(...scaled(pen.at), 12, 0, 2 * Math.PI);
    Object.assign(context, { lineWidth: 3, strokeStyle: getComputedStyle(sheet).outlineColor });
    context.stroke();
  }

  /** Runs a picture of reals. */
  function answerTo(reals) {
    const input = network.quantise(reals);
    const best = showAnswers(answers, network.run(input).reals, known.answers);
    answer.textContent = known.answers?.[best] ?? String(best);
    showLayers(layers, traced(network, input, network.trace(input), side));
  }

  function drawn() {
    if (strokes.length > 0) sample = null;
    paint();
    if (strokes.length > 0) return answerTo(inkOf(strokes, side));
    if (sample) return answerTo(sample);
    answer.textContent = "–";
    fill(answers);
    showLayers(layers, [{ name: "Input", values: new Uint8Array(side * side), shape: [1, 1, side * side], columns: side }]);
  }

  function clear() {
    strokes = [];
    sample = null;
    pen.isDown = false;
    drawn();
  }

  function place(event) {
    const box = sheet.getBoundingClientRect();
    const within = (value) => Math.min(1, Math.max(0, value));
    return [within((event.clientX - box.left) / box.width), within((event.clientY - box.top) / box.height)];
  }
  sheet.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    sheet.setPointerCapture(event.pointerId);
    pen = { at: place(event), isDown: false, isShown: false };
    strokes.push([pen.at]);
    drawn();
  });
  sheet.addEventListener("pointermove", (event) => {
    if (!sheet.hasPointerCapture(event.pointerId)) return;
    for (const step of event.getCoalescedEvents?.() ?? [event]) strokes.at(-1).push(place(step));
    drawn();
  });
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  sheet.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (move) {
      pen.at = pen.at.map((value, axis) => Math.min(1, Math.max(0, value + KEY_STEP * move[axis])));
      if (pen.isDown) strokes.at(-1).push(pen.at);
    } else if (event.key === " ") {
      pen.isDown = !pen.isDown;
      if (pen.isDown) strokes.push([pen.at]);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      clear();
    } else return;
    event.preventDefault();
    pen.isShown = true;
    drawn();
  });
  sheet.addEventListener("blur", () => {
    pen.isShown = pen.isDown = false;
    paint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => sheet.isConnected && drawn());

  fill(
    parent,
    element("h2", {}, "Draw"),
    element(
      "div",
      { class: "pair" },
      element(
        "div",
        {},
        sheet,
        element("div", { class: "row" }, element("button", { type: "button", onclick: clear }, "Clear"), samples),
        element(
          "p",
          { class: "note", id: "how" },
          `The drawing is scaled, not stretched, to fill ${side} × ${side} cells, and its ink counted in sixteenths of a cell, as the training pictures were made. Keys: arrows move the pen, Space lowers and lifts it, Delete clears.`,
        ),
      ),
      element("div", {}, element("p", { class: "result" }, element("span", { class: "quiet" }, "Answer"), answer), answers),
    ),
    element("h3", {}, "Layer by layer"),
    layers,
  );
  drawn();

  if (!known.inputs) return;
  const bytes = await bytesOf(known.inputs.file);
  const size = network.facts.input.size;
  for (let start = 0, number = 0; start + size <= bytes.length; start += size, number++) {
    const show = () => {
      strokes = [];
      sample = Array.from(bytes.subarray(start, start + size), (value) => value * known.inputs.unit);
      drawn();
    };
    const name = `Sample ${known.answers[number]}`;
    samples.append(element("button", { type: "button", class: "small", title: name, "aria-label": name, onclick: show }, known.answers[number]));
  }
  samples.firstElementChild?.click();
}
