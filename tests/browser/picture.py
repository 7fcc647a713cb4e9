"""Take the picture of Explore for the README: `python -m tests.browser.picture`."""

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.serving import serving

PICTURE = Path(__file__).parents[2] / "docs" / "explore.png"
QUERY = "e_strategy=Speculative"
WIDTH_PX, HEIGHT_PX = 1440, 1000


def main() -> None:
    browser_path = os.environ.get("PARETOKEN_CHROMIUM") or shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as dashboard,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path)
        page = browser.new_page(viewport={"width": WIDTH_PX, "height": HEIGHT_PX})
        page.goto(f"{dashboard.url}/?{QUERY}", timeout=60_000)
        page.wait_for_selector("text=× autoregressive decoding", timeout=60_000)
        page.wait_for_selector(".js-plotly-plot .main-svg", timeout=60_000)
        page.wait_for_timeout(2_000)  # labels of the charts find their places
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
