// The page: which network is loaded, and what is shown of it. Every number of a network comes from the runtime.
import { board } from "./board.js";
import { draw } from "./draw.js";
import { element, fill } from "./dom.js";
import { showFacts } from "./facts.js";
import { given } from "./given.js";
import { load } from "./tamis.js";

const find = (id) => document.getElementById(id);

/** The network on the page, and its number, by which what comes late is told from what is wanted. */
let current = { network: null, number: 0 };

/** What a network is played with: a board, a sheet of paper, or a file of inputs. */
function pane({ facts }) {
  if (facts.chess) return board;
  const [height, width, channels] = facts.input.shape;
  if (facts.input.kind !== "dense") return given;
  // A vector whose length is a square is a picture, too.
  const side = height === 1 && width === 1 ? Math.sqrt(channels) : height === width && channels === 1 ? height : 0;
  return Number.isInteger(side) && side >= 8 && side <= 64 ? draw : given;
}

/** Loads a network and shows it; what was shown before stays if it is refused. */
async function open(source, name, known = {}) {
  const number = (current.number += 1);
  document.body.classList.add("busy");
  try {
    const network = await load(source);
    if (number !== current.number) return network.free();
    const before = current.network;
    current.network = network;
    find("refused").hidden = true;
    showFacts(network, known);
    fill(find("play"));
    await pane(network)(find("play"), network, known);
    document.title = `${network.facts.name}: Tamis`;
    document.body.dataset.network = network.facts.name;
    before?.free();
  } catch (error) {
    if (number === current.number) refuse(name, error);
  } finally {
    if (number === current.number) document.body.classList.remove("busy");
  }
}

function refuse(name, error) {
  fill(find("refused"), element("b", {}, name), element("span", {}, error.message));
  find("refused").hidden = false;
}

function card(known, index) {
  const input = element("input", { type: "radio", name: "network", value: known.file, checked: index === 0 });
  input.addEventListener("change", () => open(known.file, known.name, known));
  return element("label", { class: "card" }, input, element("span", {}, element("b", {}, known.name), known.about));
}

function openFile(file) {
  for (const input of document.querySelectorAll("input[name=network]")) input.checked = false;
  open(file, file.name);
}

function listen() {
  find("file").addEventListener("change", ({ target }) => {
    if (target.files.length > 0) openFile(target.files[0]);
    // The same file can be chosen again, after it was mended.
    target.value = "";
  });
  const carriesFile = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    document.body.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.body.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    document.body.classList.remove("over");
    if (!carriesFile(event)) return;
    event.preventDefault();
    if (event.dataTransfer.files.length > 0) openFile(event.dataTransfer.files[0]);
  });
}

async function start() {
  listen();
  // Only a secure place has it, and a browser may forbid it; the page works without.
  navigator.serviceWorker?.register("./worker.js").catch(() => {});
  const response = await fetch("networks.json");
  if (!response.ok) throw new Error(`networks.json: HTTP ${response.status}`);
  const own = await response.json();
  fill(find("own"), ...own.map(card));
  await open(own[0].file, own[0].name, own[0]);
}

start().catch((error) => refuse("The page", error));
