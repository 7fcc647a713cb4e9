"""Time from a key press on the load slider of Explore to new tiles, in a real Chromium.

Run it by itself: `python -m tests.bench.slider`. Everything is included: browser, server, preview.
"""

import os
import platform
import shutil
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.serving import serving

MOVES = 16
LONGEST_WAIT_MS = 60_000
PAUSE_MS = 800
"""Between moves, so that the charts of the last one are drawn."""
WATCH = """() => {
    const tiles = () => [...document.querySelectorAll('[data-testid=stMetricValue]')]
        .map(tile => tile.innerText).join();
    const before = tiles();
    window.tiles_ms = null;
    const watch = new MutationObserver(() => {
        if (window.tiles_ms === null && tiles() !== before) {
            window.tiles_ms = performance.now() - window.pressed_ms;
            watch.disconnect();
        }
    });
    watch.observe(document.body, {subtree: true, childList: true, characterData: true});
    document.addEventListener(
        'keydown', () => { window.pressed_ms = performance.now(); }, {capture: true, once: true});
}"""


def slider_moves_ms(moves: int = MOVES, query: str = "") -> list[float]:
    """Return the time of each move, ms; `query` chooses the scenario as a link does."""
    browser_path = os.environ.get("PARETOKEN_CHROMIUM") or shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as dashboard,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(LONGEST_WAIT_MS)
        page.goto(f"{dashboard.url}/?{query}")
        page.wait_for_selector(".js-plotly-plot .main-svg")
        page.locator("[data-testid=stSidebar] input[type=range]").first.focus()
        times_ms = [move_ms(page) for _ in range(moves + 1)][1:]  # the first one warms up
        browser.close()
    return times_ms


def move_ms(page: Page) -> float:
    page.wait_for_timeout(PAUSE_MS)
    page.evaluate(WATCH)
    page.keyboard.press("ArrowLeft")  # towards loads that are served
    page.wait_for_function("window.tiles_ms !== null")
    return float(page.evaluate("window.tiles_ms"))


def main() -> None:
    loads = os.getloadavg()
    times_ms = sorted(slider_moves_ms())
    p95_ms = times_ms[min(len(times_ms) - 1, round(0.95 * len(times_ms)))]
    print(
        f"Explore, key press to new tiles: median {statistics.median(times_ms):.0f} ms,"
        f" fastest {times_ms[0]:.0f}, p95 {p95_ms:.0f}, n = {len(times_ms)}"
        f" ({platform.machine()}, {os.cpu_count()} CPUs, load {loads[0]:.1f} before)"
    )


if __name__ == "__main__":
    main()
