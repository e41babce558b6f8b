"""The page as its users meet it, in headless Chromium: page.py HOST_TOOLS ROOT PAGE FOLDER SCRATCH [SCREENSHOTS].

PAGE is what `build` made, FOLDER what `made.py` wrote. Every number is held to host-tools.
"""

import functools
import http.server
import json
import math
import subprocess
import sys
import threading
from pathlib import Path

from webdriver import DELETE, DOWN, ENTER, LEFT, RIGHT, SPACE, TAB, UP, Browser

TOOLS, ROOT, PAGE, FOLDER, SCRATCH = sys.argv[1], *(Path(name).resolve() for name in sys.argv[2:6])
SHOTS = Path(sys.argv[6]) if len(sys.argv) > 6 else None
DIGITS = ROOT / "firmware-examples/programs/src/digits.quantised.bin"
CHESS = ROOT / "runtime/examples/engine/reference.quantised.bin"
CORPUS = ROOT / "tests/fuzz/corpus/loader"
RENDERINGS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]


class Server(http.server.SimpleHTTPRequestHandler):
    """Any static server; this one is quiet."""

    def log_message(self, *_: object) -> None:
        pass


def native(fen: str) -> float:
    """A position's value for white."""
    done = subprocess.run([TOOLS, "eval", CHESS, "--fen", fen, "--json"], check=True, capture_output=True, text=True)
    [[value]] = json.loads(done.stdout)["values"]
    return -value if fen.split()[1] == "b" else value


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def ready(browser: Browser, name: str) -> None:
    script = "return document.body.dataset.network === arguments[0] && !document.querySelector('.busy')"
    browser.wait(f"network {name}", script, name)


def choose(browser: Browser, title: str, name: str) -> None:
    script = """[...document.querySelectorAll('.card')].find((card) => card.textContent.startsWith(arguments[0]))
        .querySelector('input').click()"""
    browser.js(script, title)
    ready(browser, name)


def set_up(browser: Browser, fen: str) -> None:
    script = """const fen = document.querySelector('#fen');
        fen.value = arguments[0];
        fen.dispatchEvent(new Event('input'))"""
    browser.js(script, fen)


def focus_is(browser: Browser, selector: str) -> bool:
    return browser.js("return document.activeElement.matches(arguments[0])", selector)


def tab_to(browser: Browser, selector: str) -> None:
    for _ in range(60):
        if focus_is(browser, selector):
            return
        browser.keys(TAB)
    raise AssertionError(f"no way to {selector} by Tab")


def signatures(browser: Browser) -> None:
    rows = (ROOT / "tests/vectors/networks.txt").read_text().splitlines()
    reference = next(row.split()[0] for row in rows if row.split()[1:3] == ["own", "reference"])
    logs = ROOT / "firmware-examples/programs/src"
    last = {name: (logs / f"{name}.out").read_text().split()[-1] for name in ("digits", "keywords")}
    wanted_of = {"keywords": last["keywords"], "reference": reference, "digits": last["digits"]}
    for name, wanted in wanted_of.items():
        choose(browser, {"reference": "Chess"}.get(name, name.capitalize()), name)
        assert browser.text("#here") == wanted, name
        assert browser.js("return document.querySelector('#native').value") == wanted, name
        assert browser.js("return document.querySelector('#verdict').dataset.verdict") == "equal"


def drawn(browser: Browser) -> None:
    choose(browser, "Digits", "digits")
    turns = [turn / 12 * math.pi for turn in range(26)]
    circle = [(0.5 + 0.22 * math.sin(turn), 0.5 - 0.36 * math.cos(turn)) for turn in turns]
    shapes = {
        "0": [circle],
        "1": [[(0.42, 0.25), (0.54, 0.12), (0.54, 0.88)]],
        "4": [[(0.55, 0.12), (0.3, 0.6), (0.75, 0.6)], [(0.62, 0.4), (0.6, 0.9)]],
        "7": [[(0.3, 0.15), (0.72, 0.15), (0.45, 0.88)]],
    }
    right = []
    for digit, strokes in shapes.items():
        browser.js("""[...document.querySelectorAll('#play button')]
            .find((button) => button.textContent === 'Clear').click()""")
        for stroke in strokes:
            box = browser.box(".sheet")
            browser.drag([(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in stroke])
        assert browser.js("return document.querySelectorAll('.answers li').length") == 10
        assert browser.js("return document.querySelectorAll('.layer').length") == 5
        right.append(browser.text("#answer") == digit)
    assert sum(right) >= 3, f"of four drawn digits the network knew {sum(right)}"


def inked(browser: Browser) -> int:
    """Dots of the sheet that are not paper."""
    return browser.js("""const sheet = document.querySelector('.sheet');
        const dots = sheet.getContext('2d').getImageData(0, 0, sheet.width, sheet.height).data;
        return dots.filter((value, index) => index % 4 === 3 && value > 0).length""")


def samples(browser: Browser) -> None:
    """The answers of the sample pictures are the ones of the boards' log."""
    choose(browser, "Digits", "digits")
    browser.wait("samples", "return document.querySelectorAll('.samples button').length === 10")
    log = (DIGITS.parent / "digits.out").read_text().splitlines()[1:11]
    command = [TOOLS, "inspect", DIGITS, "--json"]
    unit = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["output_unit"]
    for digit, line in enumerate(log):
        browser.click(f".samples button:nth-child({digit + 1})")
        assert inked(browser) > 0, f"sample {digit} leaves the sheet empty"
        wanted = [round(int(value) * unit, 2) for value in line.partition("[")[2].rstrip("]").split(",")]
        found = browser.js("return [...document.querySelectorAll('.answers .value')].map((value) => value.textContent)")
        assert all(abs(number(value) - want) < 0.0051 for value, want in zip(found, wanted)), (found, wanted)
        assert browser.text("#answer") == str(digit)
    browser.js("""[...document.querySelectorAll('#play button')]
        .find((button) => button.textContent === 'Clear').click()""")
    assert inked(browser) == 0 and browser.text("#answer") == "–"


def positions(browser: Browser) -> None:
    choose(browser, "Chess", "reference")
    fens = (FOLDER / "positions.fen").read_text().splitlines()
    values = json.loads((FOLDER / "positions.json").read_text())["values"]
    for fen, [value] in list(zip(fens, values))[::15]:
        set_up(browser, fen)
        assert number(browser.text("#value")) == (-value if fen.split()[1] == "b" else value), fen
        # A share on every piece but the kings.
        pieces = sum(letter.isalpha() for letter in fen.split()[0])
        assert browser.js("return document.querySelectorAll('.square .share').length") == pieces - 2
    set_up(browser, "8/8 w")
    assert browser.text("#problem").startswith("the board has 2 ranks")


def dragged(browser: Browser) -> None:
    choose(browser, "Digits", "digits")
    choose(browser, "Chess", "reference")
    middle = lambda box: (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    start = browser.box("[data-square=e2]")
    end = browser.js("return document.querySelector('[data-square=e4]').getBoundingClientRect().toJSON()")
    browser.drag([middle(start), (start["x"], start["y"] - 10), middle(end)])
    fen = browser.js("return document.querySelector('#fen').value")
    assert fen.startswith("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w"), fen
    assert number(browser.text("#value")) == native(fen)
    # Off the board, and a click on a piece and on a square.
    start = browser.box("[data-square=d8]")
    browser.drag([middle(start), (start["x"], start["y"] - 10), (5, start["y"])])
    browser.drag([middle(browser.box("[data-square=g1]"))] * 2)
    browser.drag([middle(browser.box("[data-square=f3]"))] * 2)
    fen = browser.js("return document.querySelector('#fen').value")
    assert fen.startswith("rnb1kbnr/pppppppp/8/8/4P3/5N2/PPPP1PPP/RNBQKB1R w"), fen
    assert number(browser.text("#value")) == native(fen)


def keyboard(browser: Browser) -> None:
    """From the top of the page, with no pointer."""
    browser.js("document.activeElement.blur(); scrollTo(0, 0)")
    browser.go(browser.js("return location.href"))
    ready(browser, "digits")
    tab_to(browser, "input[name=network]")
    browser.keys(RIGHT)
    ready(browser, "reference")
    tab_to(browser, ".square")
    # From e2: takes the pawn up, goes to e4, puts it down; then a black queen on d5, and nothing on f7.
    browser.keys(ENTER, UP, UP, ENTER, UP, LEFT, "q", UP, UP, RIGHT, RIGHT, DELETE)
    fen = browser.js("return document.querySelector('#fen').value")
    assert fen.startswith("rnbqkbnr/ppppp1pp/8/3q4/4P3/8/PPPP1PPP/RNBQKBNR w"), fen
    assert number(browser.text("#value")) == native(fen)
    assert browser.js("return document.activeElement.dataset.square") == "f7"
    tab_to(browser, "input[name=side]")
    browser.keys(RIGHT)
    fen = browser.js("return document.querySelector('#fen').value")
    assert fen.split()[1] == "b" and number(browser.text("#value")) == native(fen)

    browser.js("document.activeElement.blur(); scrollTo(0, 0)")
    browser.go(browser.js("return location.href"))
    ready(browser, "digits")
    tab_to(browser, ".sheet")
    browser.keys(*[UP] * 8, SPACE, *[DOWN] * 16, SPACE)
    assert browser.text("#answer") == "1"
    browser.keys(DELETE)
    assert browser.text("#answer") == "–"


def refused(browser: Browser) -> None:
    choose(browser, "Chess", "reference")
    for case in json.loads((FOLDER / "damaged.json").read_text()):
        browser.type("#file", str(FOLDER / f"{case['name']}.bin"))
        script = """return !document.querySelector('#refused').hidden
            && document.querySelector('#refused b').textContent === arguments[0]"""
        browser.wait("a refusal", script, f"{case['name']}.bin")
        words = browser.text("#refused span")
        assert words and words in case["words"], (words, case["words"])
        # What was there stays.
        assert browser.text("#here") == "3ed30cf6452c7698" and number(browser.text("#value")) == 25


def opened(browser: Browser) -> None:
    """Files of every kind, one that needs the larger module among them; the signature is compared as it is pasted."""
    rows = [row.split() for row in (ROOT / "tests/vectors/signatures.txt").read_text().splitlines()[1:]]
    for _, signature, file in rows:
        browser.js("delete document.body.dataset.network")
        browser.type("#file", str(CORPUS / file))
        browser.wait(file, "return document.body.dataset.network !== undefined && !document.querySelector('.busy')")
        assert browser.text("#here") == signature, file
        assert browser.js("return document.querySelector('#refused').hidden"), file
        assert browser.js("return document.querySelector('#play').childElementCount > 0"), file
    browser.type("#native", signature)
    assert browser.js("return document.querySelector('#verdict').dataset.verdict") == "equal"
    browser.type("#native", "\ue003" + "fe"[signature[-1] == "f"])
    assert browser.js("return document.querySelector('#verdict').dataset.verdict") == "differs"


CONTRAST = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const linear = (part) => ((part /= 255), part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const over = (top, under) => { const a = top[3] ?? 1; return [0, 1, 2].map((i) => a * top[i] + (1 - a) * under[i]); };
const ground = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
};
const poor = [];
for (const element of document.querySelectorAll("body *")) {
  const owns = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!owns || !element.checkVisibility({ opacityProperty: true }) || element.closest(".hidden, noscript")) continue;
  const style = getComputedStyle(element);
  const [text, under] = [luminance(parse(style.color)), luminance(ground(element))];
  const ratio = (Math.max(text, under) + 0.05) / (Math.min(text, under) + 0.05);
  const isLarge = parseFloat(style.fontSize) >= 24;
  const named = `${element.tagName}.${element.className} ${element.textContent.slice(0, 30)}`;
  if (ratio < (isLarge ? 3 : 4.5)) poor.push(`${named}: ${ratio.toFixed(2)}`);
}
return poor;
"""
# Roles that someone who does not see the page must be told the name of.
NAMED = {
    *("button", "textbox", "radio", "combobox", "image", "img"),
    *("grid", "gridcell", "application", "region", "Canvas"),
}


def renderings(browser: Browser) -> None:
    for width, scheme in RENDERINGS:
        browser.emulate(width, 900, scheme)
        for title, name in [("Digits", "digits"), ("Chess", "reference"), ("Keywords", "keywords")]:
            choose(browser, title, name)
            if name == "digits":
                browser.wait("samples", "return document.querySelectorAll('.samples button').length === 10")
                browser.click(".samples button:nth-child(4)")
            if name == "reference":
                fen = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 0 1"
                set_up(browser, fen)
            browser.js("""document.querySelector('.layers').getAnimations({ subtree: true })
                .forEach((animation) => animation.finish())""")
            wide = browser.js("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1], f"{name} at {width}: {wide[0]} px in {wide[1]}"
            table = browser.js("const { parentElement } = document.querySelector('#operations').parentElement; "
                               "return [parentElement.scrollWidth, parentElement.clientWidth]")
            assert table[0] <= table[1], f"{name} at {width}: a table of {table[0]} px in {table[1]}"
            poor = browser.js(CONTRAST)
            assert not poor, f"{name}, {scheme}: {poor}"
            nodes = [node for node in browser.devtools("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
            nameless = [node for node in nodes if node["role"]["value"] in NAMED and not node["name"]["value"]]
            assert not nameless, nameless
            if SHOTS:
                browser.js("document.activeElement.blur(); scrollTo(0, 0)")
                browser.screenshot(SHOTS / f"{name}-{width}-{scheme}.png")
    browser.emulate(1280, 900, "light")


def offline(browser: Browser, server: http.server.ThreadingHTTPServer) -> None:
    browser.wait("the worker", "return navigator.serviceWorker.controller !== null")
    server.shutdown()
    server.server_close()
    browser.go(browser.js("return location.href"))
    ready(browser, "digits")
    choose(browser, "Chess", "reference")
    assert number(browser.text("#value")) == 25


def main() -> None:
    if SHOTS:
        SHOTS.mkdir(parents=True, exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=str(PAGE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Browser(SCRATCH) as browser:
        browser.emulate(1280, 900, "light")
        browser.go(f"http://127.0.0.1:{server.server_port}/")
        ready(browser, "digits")
        tests = [signatures, samples, drawn, positions, dragged, keyboard, refused, opened, renderings]
        failed = 0
        for test in tests:
            try:
                test(browser)
                print(f"ok: {test.__name__}", flush=True)
            except AssertionError as error:
                failed += 1
                print(f"not ok: {test.__name__}: {error}", flush=True)
                if SHOTS:
                    browser.screenshot(SHOTS / f"failed-{test.__name__}.png")
        outside = browser.js(
            "return performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin)"
            ".filter((origin) => origin !== location.origin)"
        )
        errors = browser.errors()
        assert not outside and not errors, (outside, errors)
        offline(browser, server)
        print("ok: offline, no request to elsewhere, no error in the console")
        heap = browser.devtools("Runtime.getHeapUsage")
        arrays = heap["backingStorageSize"] / 1e6
        print(f"memory: {heap['usedSize'] / 1e6:.1f} MB of JavaScript's, {arrays:.1f} MB of arrays and modules")
    sys.exit(1 if failed else 0)


main()
