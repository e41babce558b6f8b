// A board: positions are set up by dragging, clicking, keys or a FEN, and each piece shows its share of the value.
import { element, fill, signed } from "./dom.js";
import { showLayers } from "./layers.js";
import { LETTERS, isWhite, nameOf, pieceOf } from "./pieces.js";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const FILES = "abcdefgh";
/** A value at which the bar is full, in the network's unit. */
const FULL = 1000;

/** `e4` of a square's number, a1 = 0. */
const squareName = (square) => FILES[square % 8] + (Math.floor(square / 8) + 1);

/** The letters of a FEN's board by square, or nothing where it is none; the network's reader judges the whole. */
function lettersOf(fen) {
  const ranks = fen.trim().split(/\s+/)[0].split("/");
  const rows = ranks.map((rank) => [...rank.replace(/[1-8]/g, (count) => " ".repeat(Number(count)))]);
  if (rows.length !== 8 || rows.some((row) => row.length !== 8)) return null;
  return rows.reverse().flat().map((letter) => (letter === " " ? "" : letter));
}

function fenOf(letters, side) {
  const ranks = [];
  for (let rank = 7; rank >= 0; rank--) {
    const row = letters.slice(8 * rank, 8 * rank + 8).map((letter) => letter || " ").join("");
    ranks.push(row.replace(/ +/g, (empty) => String(empty.length)));
  }
  return `${ranks.join("/")} ${side} - - 0 1`;
}

export async function board(parent, network) {
  let letters = lettersOf(START);
  let side = "w";
  let isTurned = false;
  /** Where keys are. */
  let focus = 12;
  /** What a click puts down: `{ letter, from }`, from a square or from the tray; an empty letter takes away. */
  let held = null;

  const grid = element("div", { class: "board", role: "grid", "aria-label": "Board", "aria-describedby": "keys" });
  const value = element("output", { class: "answer", id: "value" });
  const bar = element("div", { class: "scale", role: "img" }, element("span", {}));
  const about = element("p", { class: "quiet", id: "about" });
  const fen = element("input", { id: "fen", spellcheck: "false", autocomplete: "off", "aria-describedby": "problem" });
  const problem = element("p", { class: "refused", id: "problem", role: "alert", hidden: true });
  const shares = element("tbody", {});
  const layers = element("div", { class: "layers" });
  const spoken = element("p", { class: "hidden", role: "status" });

  function evaluate(text) {
    try {
      const { reals } = network.evaluate(text);
      const found = network.shares(text);
      problem.hidden = true;
      const digits = network.facts.outputElement === "f32" || !Number.isInteger(found.value) ? 3 : 0;
      value.textContent = signed(found.value, digits);
      const isOne = reals.length === 1;
      about.textContent = isOne
        ? `For ${found.value < 0 ? "black" : "white"}, in the network's unit (centipawns of most); ${side === "w" ? "white" : "black"} to move`
        : `First of ${reals.length} outputs (${Array.from(reals, (real) => real.toFixed(3)).join(", ")}), for the side to move`;
      const filled = Math.max(-1, Math.min(1, found.value / FULL));
      bar.style.setProperty("--from", `${50 + 50 * Math.min(0, filled)}%`);
      bar.style.setProperty("--length", `${50 * Math.abs(filled)}%`);
      bar.setAttribute("aria-label", `${signed(found.value, digits)} for white`);
      showShares(found.pieces, digits);
      const [own, other] = network.accumulators(text);
      const names = side === "w" ? ["White’s accumulator", "Black’s accumulator"] : ["Black’s accumulator", "White’s accumulator"];
      const shape = [1, 1, own.length];
      showLayers(layers, [own, other].map((values, index) => ({ name: names[index], values, shape, columns: 64 })));
      return true;
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
      value.textContent = "–";
      about.textContent = "No value: this is no position";
      bar.style.setProperty("--length", "0%");
      showShares([], 0);
      fill(layers);
      return false;
    }
  }

  function showShares(pieces, digits) {
    for (const badge of grid.querySelectorAll(".share")) badge.remove();
    for (const { square, share } of pieces) {
      if (share === null) continue;
      const cell = grid.querySelector(`[data-square="${square}"]`);
      const kind = share > 0 ? "share up" : share < 0 ? "share down" : "share";
      cell.append(element("span", { class: kind, "aria-hidden": "true" }, signed(share, digits)));
      cell.setAttribute("aria-label", `${cell.dataset.name}, share ${signed(share, digits)}`);
    }
    const sorted = pieces.filter(({ share }) => share !== null).sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
    const row = ({ square, piece, share }) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, nameOf(piece)),
        element("td", {}, square),
        element("td", { class: "number" }, signed(share, digits)),
      );
    fill(shares, ...sorted.map(row));
  }

  /** Draws the squares anew, and asks the network. */
  function show() {
    const hadFocus = grid.contains(document.activeElement);
    const rows = [];
    for (let row = 0; row < 8; row++) {
      const squares = [];
      for (let column = 0; column < 8; column++) {
        const square = isTurned ? 8 * row + (7 - column) : 8 * (7 - row) + column;
        const letter = letters[square];
        const name = `${squareName(square)}, ${letter ? nameOf(letter) : "empty"}`;
        const isDark = (Math.floor(square / 8) + square) % 2 === 0;
        const cell = element(
          "div",
          {
            class: `square ${isDark ? "dark" : "light"}${held?.from === square ? " held" : ""}`,
            role: "gridcell",
            tabindex: square === focus ? 0 : -1,
            "data-square": squareName(square),
            "data-name": name,
            "aria-label": name,
            "aria-selected": held?.from === square ? "true" : "false",
          },
          column === 0 ? element("span", { class: "rank", "aria-hidden": "true" }, squareName(square)[1]) : null,
          row === 7 ? element("span", { class: "file", "aria-hidden": "true" }, squareName(square)[0]) : null,
          letter ? pieceOf(letter) : null,
        );
        squares.push(cell);
      }
      rows.push(element("div", { role: "row", class: "rank-row" }, ...squares));
    }
    fill(grid, ...rows);
    for (const button of tray.querySelectorAll("[data-letter]")) {
      const isHeld = held !== null && held.from === null && held.letter === button.dataset.letter;
      button.setAttribute("aria-pressed", String(isHeld));
    }
    const text = fenOf(letters, side);
    if (document.activeElement !== fen) fen.value = text;
    for (const input of sides.querySelectorAll("input")) input.checked = input.value === side;
    evaluate(text);
    if (hadFocus) grid.querySelector("[tabindex='0']").focus();
  }

  function put(square, letter) {
    letters = letters.with ? letters.with(square, letter) : Object.assign([...letters], { [square]: letter });
  }

  /** Moves a piece from a square to another, or off the board. */
  function move(from, to) {
    const letter = letters[from];
    put(from, "");
    if (to !== null) put(to, letter);
    spoken.textContent = `${nameOf(letter)} ${to === null ? "taken off" : `to ${squareName(to)}`}`;
  }

  /** A click, or Enter: takes up what stands there, or puts down what is held. */
  function act(square) {
    if (held === null) {
      if (letters[square]) {
        held = { letter: letters[square], from: square };
        spoken.textContent = `${nameOf(letters[square])} taken up`;
      }
    } else if (held.from === null) {
      put(square, held.letter);
      spoken.textContent = held.letter ? `${nameOf(held.letter)} on ${squareName(square)}` : `${squareName(square)} empty`;
    } else {
      if (held.from !== square) move(held.from, square);
      held = null;
    }
    focus = square;
    show();
  }

  const squareOf = (target) => {
    const name = target?.closest?.("[data-square]")?.dataset.square;
    return name === undefined ? null : FILES.indexOf(name[0]) + 8 * (Number(name[1]) - 1);
  };

  // Dragging: what was pressed follows the pointer once that moved; let go beyond the board, it is taken off.
  let drag = null;
  grid.addEventListener("pointerdown", (event) => {
    const square = squareOf(event.target);
    if (event.button !== 0 || square === null) return;
    drag = { from: square, x: event.clientX, y: event.clientY, ghost: null };
  });
  addEventListener("pointermove", onMove);
  addEventListener("pointerup", onUp);
  addEventListener("pointercancel", stopDrag);
  function onMove(event) {
    if (!grid.isConnected) return forget();
    if (drag === null || held !== null || !letters[drag.from]) return;
    if (drag.ghost === null && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 6) return;
    if (drag.ghost === null) {
      drag.ghost = element("div", { class: "ghost" }, pieceOf(letters[drag.from]));
      drag.ghost.style.width = `${grid.clientWidth / 8}px`;
      document.body.append(drag.ghost);
      grid.querySelector(`[data-square="${squareName(drag.from)}"]`).classList.add("lifted");
    }
    drag.ghost.style.translate = `${event.clientX}px ${event.clientY}px`;
  }
  function onUp(event) {
    if (drag === null) return;
    const { from, ghost } = drag;
    stopDrag();
    const to = squareOf(document.elementFromPoint(event.clientX, event.clientY));
    if (ghost === null) {
      if (to === from) act(from);
      return;
    }
    if (to !== from) move(from, to);
    focus = to ?? from;
    show();
  }
  function stopDrag() {
    drag?.ghost?.remove();
    grid.querySelector(".lifted")?.classList.remove("lifted");
    drag = null;
  }
  /** Another network has taken the place. */
  function forget() {
    removeEventListener("pointermove", onMove);
    removeEventListener("pointerup", onUp);
    removeEventListener("pointercancel", stopDrag);
  }

  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const turn = isTurned ? -1 : 1;
    const steps = { ArrowLeft: [-turn, 0], ArrowRight: [turn, 0], ArrowUp: [0, turn], ArrowDown: [0, -turn] };
    const step = steps[event.key];
    const [file, rank] = [focus % 8, Math.floor(focus / 8)];
    if (step) {
      const within = (place) => Math.min(7, Math.max(0, place));
      focus = within(file + step[0]) + 8 * within(rank + step[1]);
      // Nothing else changes, so that the network is not asked.
      for (const cell of grid.querySelectorAll("[tabindex='0']")) cell.tabIndex = -1;
      const cell = grid.querySelector(`[data-square="${squareName(focus)}"]`);
      cell.tabIndex = 0;
      cell.focus();
    } else if (event.key === "Enter" || event.key === " ") act(focus);
    else if (event.key === "Delete" || event.key === "Backspace") {
      put(focus, "");
      show();
    } else if (event.key === "Escape") {
      held = null;
      show();
    } else if (/^[pnbrqk]$/i.test(event.key)) {
      put(focus, event.key);
      show();
    } else return;
    event.preventDefault();
  });

  const tray = element("div", { class: "tray", role: "group", "aria-label": "Pieces to put on the board" });
  const hold = (letter) => () => {
    const isSame = held !== null && held.from === null && held.letter === letter;
    held = isSame ? null : { letter, from: null };
    show();
  };
  const trayButton = (letter) =>
    element(
      "button",
      { type: "button", class: "tray-piece", "data-letter": letter, "aria-pressed": "false", "aria-label": letter ? `Put a ${nameOf(letter)}` : "Take pieces off", title: letter ? nameOf(letter) : "take off", onclick: hold(letter) },
      letter ? pieceOf(letter) : element("svg", { class: "piece cross", viewBox: "0 0 45 45", "aria-hidden": "true" }, element("path", { d: "M13 13l19 19M32 13l-19 19" })),
    );
  fill(tray, ...LETTERS.map(trayButton), trayButton(""));

  const sides = element("fieldset", { class: "sides" }, element("legend", { class: "hidden" }, "Side to move"));
  for (const [code, name] of [["w", "White to move"], ["b", "Black to move"]]) {
    const input = element("input", { type: "radio", name: "side", value: code });
    input.addEventListener("change", () => {
      side = code;
      show();
    });
    sides.append(element("label", {}, input, element("span", {}, name)));
  }

  fen.addEventListener("input", () => {
    const found = lettersOf(fen.value);
    const isPosition = evaluate(fen.value);
    if (!isPosition || found === null) return;
    letters = found;
    side = fen.value.trim().split(/\s+/)[1];
    held = null;
    show();
  });
  fen.addEventListener("blur", () => (fen.value = fenOf(letters, side), evaluate(fen.value)));

  const setUp = (text) => () => {
    letters = lettersOf(text);
    side = text.split(" ")[1];
    held = null;
    show();
  };
  const button = (name, onclick) => element("button", { type: "button", onclick }, name);
  fill(
    parent,
    element("h2", {}, "Set up a position"),
    element(
      "div",
      { class: "pair wide" },
      element("div", { class: "stack" }, grid, tray),
      element(
        "div",
        { class: "stack" },
        element("div", { class: "result" }, value, about),
        bar,
        sides,
        element("label", { class: "field" }, element("span", {}, "FEN"), fen),
        problem,
        element(
          "div",
          { class: "row" },
          button("Start", setUp(START)),
          button("Kings only", setUp("4k3/8/8/8/8/8/8/4K3 w - - 0 1")),
          button("Turn", () => ((isTurned = !isTurned), show())),
        ),
        element(
          "p",
          { class: "note", id: "keys" },
          "Drag a piece, off the board to take it away, or click it and then a square. Keys: arrows move, Enter takes up and puts down, p n b r q k put a black piece, with Shift a white one, Delete takes away.",
        ),
        element("p", { class: "note" }, "The number on a piece is its share: by how much the value changes, for white, when it is taken off. A king has none."),
      ),
    ),
    element(
      "details",
      {},
      element("summary", {}, "Shares as a list"),
      element(
        "table",
        { class: "shares" },
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Piece"), element("th", { scope: "col" }, "Square"), element("th", { scope: "col", class: "number" }, "Share"))),
        shares,
      ),
    ),
    element("h3", {}, "Accumulators"),
    layers,
    spoken,
  );
  show();
}
