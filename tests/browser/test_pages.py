"""All pages in a real Chromium at several widths: nothing is cut, nothing scrolls sideways."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from sim.scenario import load_scenario
from tests.browser.serving import Dashboard

pytestmark = pytest.mark.browser

PLOT = ".js-plotly-plot .main-svg"
LONGEST_WAIT_MS = 60_000
CUT = """() => [...document.querySelectorAll(
    '[data-testid=stMain], [data-testid=stTable], .stMarkdownBadge')]
    .filter(box => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).display
        !== 'inline')
    .map(box => box.dataset.testid || box.innerText)"""
"""Names what is wider than its place."""


@pytest.fixture
def visit(browser: Browser, dashboard: Dashboard) -> Iterator[Callable[..., Page]]:
    """Open a page of the dashboard by the end of its address."""
    contexts = []

    def open_page(path: str, *, width: int = 1440, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(LONGEST_WAIT_MS)
        page.goto(f"{dashboard.url}/{path}")
        page.wait_for_selector("h3")
        page.wait_for_selector("[data-testid=stStatusWidget]", state="detached")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize(
    ("path", "width", "scheme", "shown"),
    [
        ("compare", 1440, "light", PLOT),
        ("compare", 1024, "dark", PLOT),
        ("calibration", 1024, "light", "[data-testid=stTable]"),
        ("?e_strategy=Speculative&e_tab=Over+time", 1024, "dark", PLOT),
        ("?e_strategy=Diffusion&e_model=llada-8b&e_load=1", 1920, "light", PLOT),
    ],
)
def test_nothing_is_wider_than_its_place(
    path: str, width: int, scheme: str, shown: str, visit: Callable[..., Page]
) -> None:
    page = visit(path, width=width, scheme=scheme)
    page.wait_for_selector(shown)
    assert page.evaluate(CUT) == []
    assert "None" not in page.locator("[data-testid=stMain]").inner_text()
    assert page.locator("[data-testid=stException]").count() == 0


def test_a_pinned_answer_can_be_compared_and_taken_home(
    visit: Callable[..., Page], tmp_path: Path
) -> None:
    page = visit("?e_load=6")
    page.wait_for_selector(PLOT)
    page.get_by_role("button", name="Pin to compare").click()
    page.wait_for_selector("text=this very answer")
    page.locator("[data-testid=stSidebar] input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("text=Pinned with load 6, now 6.5")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Scenario: scenario.yaml").click()
    path = tmp_path / "taken.yaml"
    taken.value.save_as(path)
    assert load_scenario(path).workload.offered_requests_per_s == 6.5


def test_a_fold_opens_where_a_link_fills_it_and_its_knobs_stay_in_the_address(
    visit: Callable[..., Page],
) -> None:
    page = visit("?e_scheduler=decode+first")
    page.wait_for_selector("text=Prompt tokens per pass")
    assert "e_scheduler=decode+first" in page.url
    page.get_by_text("Scheduler, memory, router").click()  # closed, it still counts
    page.wait_for_selector("text=Prompt tokens per pass", state="hidden")
    page.wait_for_timeout(500)
    assert "e_scheduler=decode+first" in page.url
