// The values on the way through a network, a cell a value, lit by its size beside the greatest of its layer.
import { element, fill } from "./dom.js";
import { shapeText } from "./facts.js";

/** Cells in a row of a vector. */
const ROW = 32;

/** Where each value of a shape lies: [column, row], and how many there are. */
function places([height, width, channels], columns) {
  if (height === 1 && width === 1) {
    const across = Math.min(channels, columns ?? ROW);
    return { across, down: Math.ceil(channels / across), at: (index) => [index % across, Math.floor(index / across)] };
  }
  // A picture a channel, side by side with a cell between them, all together four times as wide as high.
  const tiles = Math.min(channels, Math.ceil(Math.sqrt((4 * channels * (height + 1)) / (width + 1))));
  const across = tiles * (width + 1) - 1;
  const down = Math.ceil(channels / tiles) * (height + 1) - 1;
  const at = (index) => {
    const [channel, pixel] = [index % channels, Math.floor(index / channels)];
    const [tile, line] = [channel % tiles, Math.floor(channel / tiles)];
    return [tile * (width + 1) + (pixel % width), line * (height + 1) + Math.floor(pixel / width)];
  };
  return { across, down, at };
}

/** The colours of the page, as it is now. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  const parse = (name) => style.getPropertyValue(name).trim().split(/\s+/).map(Number);
  return { above: parse("--cell-above"), below: parse("--cell-below"), none: parse("--cell-none") };
}

/** A canvas with a pixel a value. */
export function cells(values, shape, label, { columns, zero = 0 } = {}) {
  const { across, down, at } = places(shape, columns);
  const canvas = element("canvas", { class: "cells", width: across, height: down, role: "img", "aria-label": label });
  canvas.style.setProperty("--across", across);
  canvas.style.aspectRatio = `${across} / ${down}`;
  const { above, below, none } = colours();
  const context = canvas.getContext("2d");
  const image = context.createImageData(across, down);
  let greatest = 1e-30;
  for (const value of values) greatest = Math.max(greatest, Math.abs(value - zero));
  values.forEach((value, index) => {
    const [column, row] = at(index);
    const light = Math.sqrt(Math.abs(value - zero) / greatest);
    const to = value < zero ? below : above;
    const start = 4 * (row * across + column);
    for (let part = 0; part < 3; part++) image.data[start + part] = none[part] + light * (to[part] - none[part]);
    image.data[start + 3] = 255;
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

function described(values, zero) {
  let above = 0;
  let below = 0;
  for (const value of values) {
    if (value > zero) above += 1;
    else if (value < zero) below += 1;
  }
  return below > 0 ? `${above} above, ${below} below zero` : `${above} of ${values.length} above zero`;
}

/** Shows layers one below the other: `{ name, values, shape }`, `zero` where another integer stands for 0. */
export function showLayers(parent, layers) {
  const rows = layers.map(({ name, values, shape, columns, zero = 0 }, index) => {
    const summary = described(values, zero);
    const row = element(
      "figure",
      { class: "layer" },
      element(
        "figcaption",
        {},
        element("b", {}, name),
        element("span", { class: "quiet" }, `${shapeText(shape)} · ${summary}`),
      ),
      cells(values, shape, `${name}: ${summary}`, { columns, zero }),
    );
    row.style.setProperty("--after", index);
    return row;
  });
  fill(parent, ...rows);
}

/** The layers of a trace. */
export function traced(network, input, values, columns) {
  const { facts } = network;
  const first = { name: "Input", values: input, shape: facts.input.shape, columns, zero: facts.input.zero };
  const others = facts.operations.map((operation, index) => ({
    name: operation.weights?.replace(/\.?weight$/, "") ? `${operation.kind} · ${operation.weights}` : operation.kind,
    values: values[index],
    shape: operation.outputShape,
    zero: operation.outputZero,
  }));
  return [first, ...others];
}

/** The outputs as bars, the greatest marked; `names` where they are known. */
export function showAnswers(parent, reals, names) {
  const values = Array.from(reals);
  const best = values.indexOf(Math.max(...values));
  const [low, high] = [Math.min(...values, 0), Math.max(...values, 0)];
  const share = (value) => `${(100 * value) / (high - low || 1)}%`;
  const rows = values.map((value, index) => {
    const bar = element("span", { class: "bar" });
    bar.style.setProperty("--from", share(Math.min(value, 0) - low));
    bar.style.setProperty("--length", share(Math.abs(value)));
    return element(
      "li",
      { class: index === best ? "best" : null },
      element("span", { class: "name" }, names?.[index] ?? String(index)),
      element("span", { class: "track", "aria-hidden": "true" }, bar),
      element("span", { class: "value" }, value.toFixed(2).replace("-", "−")),
    );
  });
  fill(parent, ...rows);
  return best;
}
