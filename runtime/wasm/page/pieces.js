// The chess pieces, drawn for this page.
import { element } from "./dom.js";

const BASE = "M12 38.5v-3c0-1.2.8-2 2-2h17c1.2 0 2 .8 2 2v3z";
const SHAPES = {
  p: ["M22.5 8.5a5.6 5.6 0 0 1 3.6 9.9c2.6 1.6 3.7 3.5 3.3 5.6h-3.2c.5 4 2 6.800 4.300 9.500h-16c2.300-2.700 3.800-5.500 4.300-9.500h-3.200c-.4-2.100.7-4 3.300-5.600a5.600 5.600 0 0 1 3.600-9.900z", BASE],
  n: ["M14.500 33.500c-.3-6 5-8.500 6-13.500-1.700 1.500-4.200 1.600-5.600 2.600-1 .7-1.300 2-2.700 2-1.800 0-3.200-1.800-2.700-3.800.8-3.300 4.200-5.800 5.500-9.300.4-1 .3-2.500.5-4.500l4 2.800c8.500-.8 14.500 6.200 14 16-.2 3-.9 5.200-1.200 7.700z", BASE],
  b: ["M22.500 6a2.400 2.400 0 0 1 1.700 4.100c5 3.500 7.300 8 5.600 12-.7 1.700-1.800 2.800-2.900 3.700h-8.800c-1.100-.9-2.200-2-2.900-3.700-1.700-4 .6-8.500 5.600-12a2.400 2.400 0 0 1 1.700-4.100z", "M18.600 25.800h7.800c.3 3 1.500 5.500 3.600 7.700h-15c2.100-2.200 3.300-4.700 3.600-7.700z", BASE],
  r: ["M12.500 8.500h4.600v3h3.300v-3h4.200v3h3.300v-3h4.600v7.500l-3 2.500.9 15h-15.800l.9-15-3-2.500z", BASE],
  q: ["M22.500 6.200a2.300 2.300 0 0 1 1.200 4.300l3.500 9 4.400-8.300a2.300 2.300 0 1 1 2.600-.2l-2.400 15.500c-1.600 2.200-2.300 4.400-2.300 7h-14c0-2.600-.7-4.800-2.300-7l-2.400-15.500a2.300 2.300 0 1 1 2.600.2l4.400 8.300 3.500-9a2.300 2.300 0 0 1 1.200-4.300z", BASE],
  k: ["M21.200 5h2.600v2.600h2.700v2.600h-2.700v3c1 .5 1.900 1.300 2.400 2.400 4.500-2.200 9.300-.3 9.300 4.600 0 4.200-3.300 6.500-4.300 13.300h-17.400c-1-6.800-4.300-9.100-4.300-13.300 0-4.900 4.800-6.800 9.300-4.600.5-1.100 1.400-1.900 2.400-2.400v-3h-2.700v-2.600h2.700z", BASE],
};
/** Lines within a shape. */
const LINES = {
  n: "M18.800 15.800l.9-.7M16 33.500",
  b: "M22.500 14v6M19.700 17h5.600",
  r: "M15.500 18.500h14M15 29.500h15",
  q: "M16 27.500h13",
  k: "M22.500 15.500v13M15.500 28.500h14",
};
const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

export const LETTERS = ["K", "Q", "R", "B", "N", "P", "k", "q", "r", "b", "n", "p"];

export const isWhite = (letter) => letter === letter.toUpperCase();

/** `white knight` */
export const nameOf = (letter) => `${isWhite(letter) ? "white" : "black"} ${NAMES[letter.toLowerCase()]}`;

/** A drawing without a name of its own. */
export function pieceOf(letter) {
  const kind = letter.toLowerCase();
  const paths = SHAPES[kind].map((d) => element("path", { d }));
  const lines = LINES[kind] ? [element("path", { d: LINES[kind], class: "line" })] : [];
  const side = isWhite(letter) ? "white" : "black";
  return element("svg", { class: `piece ${side}`, viewBox: "0 0 45 45", "aria-hidden": "true" }, ...paths, ...lines);
}
