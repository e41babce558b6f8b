"""A browser driven through chromedriver by the WebDriver protocol, as far as the tests of the page need it."""

import base64
import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# Nothing is fetched in the background, nothing is kept.
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--force-color-profile=srgb",
]  # fmt: skip
TAB, ENTER, SPACE, DELETE, SHIFT = "\ue004", "\ue007", " ", "\ue017", "\ue008"
LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"


class Browser:
    """A fresh profile in `scratch`; `with Browser(scratch) as browser:`."""

    def __init__(self, scratch: Path) -> None:
        self.log = (scratch / "chromedriver.log").open("w")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=self.log, text=True)
        assert self.driver.stdout
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.base = f"http://127.0.0.1:{line.rstrip().rstrip('.').split()[-1]}"
                break
        flags = [*FLAGS, f"--user-data-dir={scratch / 'profile'}"]
        options = {"args": flags, "excludeSwitches": ["enable-automation"]}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.base += f"/session/{made['sessionId']}"

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.log.close()

    def call(self, method: str, path: str, body: object = None) -> object:
        data = None if method in ("GET", "DELETE") else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def go(self, url: str) -> None:
        self.call("POST", "/url", {"url": url})

    def js(self, script: str, *arguments: object) -> object:
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command: str, **parameters: object) -> dict:
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector: str) -> str:
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector: str) -> str:
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def type(self, selector: str, keys: str) -> None:
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": keys})

    def click(self, selector: str) -> None:
        self.call("POST", f"/element/{self.find(selector)}/click")

    def keys(self, *keys: str) -> None:
        """Presses keys one after the other, on whatever has the focus; a capital with Shift."""
        actions = []
        for key in keys:
            parts = [SHIFT, key] if len(key) == 1 and key.isupper() else [key]
            actions += [{"type": "keyDown", "value": part} for part in parts]
            actions += [{"type": "keyUp", "value": part} for part in reversed(parts)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def drag(self, points: list[tuple[float, float]]) -> None:
        """Presses at the first point of the window, moves through the others, lets go."""
        steps = [{"type": "pointerMove", "duration": 20, "x": round(x), "y": round(y)} for x, y in points]
        steps.insert(1, {"type": "pointerDown", "button": 0})
        steps.append({"type": "pointerUp", "button": 0})
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self.call("POST", "/actions", {"actions": [pointer]})

    def box(self, selector: str) -> dict:
        """Where an element is in the window, once it was scrolled to."""
        script = """const element = document.querySelector(arguments[0]);
            element.scrollIntoView({ block: "center" });
            return element.getBoundingClientRect().toJSON();"""
        return self.js(script, selector)

    def wait(self, what: str, script: str, *arguments: object) -> None:
        """Until a script returns something true."""
        end = time.monotonic() + 20
        while not self.js(script, *arguments):
            assert time.monotonic() < end, f"waited in vain: {what}"
            time.sleep(0.05)

    def errors(self) -> list[str]:
        """What the console says that is no remark."""
        entries = self.call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def emulate(self, width: int, height: int, scheme: str) -> None:
        is_phone = width < 600
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if is_phone else 1, "mobile": is_phone}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> None:
        """The whole page."""
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.devtools("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
