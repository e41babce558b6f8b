// Elements in one call each.

const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "path", "circle", "g"]);

/** An element with attributes, listeners (`onclick: f`) and children; an attribute of `false` or `null` is left out. */
export function element(name, attributes = {}, ...children) {
  const made = SVG_NAMES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Puts children in place of those that an element has. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children);
  return parent;
}

/** A number with a sign, and a true minus. */
export function signed(value, digits = 0) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "−" : "+") + text;
}

export const count = (value) => value.toLocaleString("en").replaceAll(",", " ");
