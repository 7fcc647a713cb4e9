"""Explore in a real Chromium: what a user sees, and what leaves the machine (nothing)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.serving import Dashboard

pytestmark = pytest.mark.browser

TILE = "[data-testid=stMetric]"
VALUE = "[data-testid=stMetricValue]"
ANSWER = "h3"
PLOT = ".js-plotly-plot .main-svg"
LONGEST_WAIT_MS = 60_000


@dataclass
class Visit:
    """A page, and what it said and asked for while it was open."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def visit(browser: Browser, dashboard: Dashboard) -> Iterator[Callable[..., Visit]]:
    """Open Explore; `query` is the part of the address after the question mark."""
    contexts = []

    def open_page(query: str = "", *, width: int = 1280, scheme: str = "light") -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        contexts.append(context)
        visited = Visit(context.new_page())
        visited.page.set_default_timeout(LONGEST_WAIT_MS)
        visited.page.on("pageerror", lambda error: visited.errors.append(str(error)))
        visited.page.on(
            "console",
            lambda said: visited.errors.append(said.text) if said.type == "error" else None,
        )
        visited.page.on("request", lambda request: visited.requests.append(request.url))
        visited.page.goto(f"{dashboard.url}/?{query}")
        visited.page.wait_for_selector(ANSWER)
        return visited

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def first_visit(visit: Callable[..., Visit]) -> Visit:
    """The page as it is first seen, settled; the tests share it, for a load takes seconds."""
    visited = visit()
    settle(visited.page)
    return visited


@pytest.fixture(scope="module")
def phone_at_night(visit: Callable[..., Visit]) -> Visit:
    """The same on a phone that prefers dark, with all charts open."""
    visited = visit("e_tab=All", width=420, scheme="dark")
    settle(visited.page)
    return visited


def settle(page: Page) -> None:
    """Wait until the charts of the open tab are drawn."""
    page.wait_for_selector(PLOT)
    page.wait_for_selector("[data-testid=stStatusWidget]", state="detached")


def scrolls_sideways(page: Page) -> bool:
    script = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
        .some(box => box.scrollWidth > box.clientWidth)"""
    return bool(page.evaluate(script))


LIGHT_INK, DARK_INK = "rgb(27, 35, 48)", "rgb(231, 235, 242)"  # #1B2330 and #E7EBF2
INK = "getComputedStyle(document.querySelector('.ytick text')).fill"
"""Colour of the labels in the charts."""


def test_the_answer_comes_first_then_six_tiles_then_charts(first_visit: Visit) -> None:
    page = first_visit.page
    answer = page.locator(ANSWER).first
    assert "H100 (4 replicas of 2) serve 8 requests/s" in answer.inner_text()
    assert page.locator(TILE).count() == 6
    boxes = [place.first.bounding_box() for place in (answer, *map(page.locator, (TILE, PLOT)))]
    tops = [box["y"] for box in boxes if box is not None]
    assert len(tops) == 3
    assert tops == sorted(tops)


def test_every_tile_shows_a_number_an_interval_and_an_origin(first_visit: Visit) -> None:
    for tile in first_visit.page.locator(TILE).all():
        _, value, chip, origin = [line for line in tile.inner_text().splitlines() if line.strip()]
        assert any(letter.isdigit() for letter in value)
        assert "–" in chip or "×" in chip
        assert origin in {"measured", "calibrated", "assumed", "list price"}


@pytest.mark.parametrize("name", ["first_visit", "phone_at_night"])
def test_the_page_neither_errs_nor_scrolls_sideways_nor_phones_anywhere(
    name: str, request: pytest.FixtureRequest, dashboard: Dashboard, tmp_path: Path
) -> None:
    visited: Visit = request.getfixturevalue(name)
    assert visited.errors == []
    outside = [
        url for url in visited.requests if not url.startswith((dashboard.url, "data:", "blob:"))
    ]
    assert outside == []
    assert not scrolls_sideways(visited.page)
    picture = visited.page.screenshot(path=tmp_path / f"{name}.png")
    assert len(picture) > 10_000


def test_the_dashboard_listens_on_this_machine_only(dashboard: Dashboard) -> None:
    said = dashboard.log.read_text(encoding="utf-8")
    assert "http://127.0.0.1:" in said
    assert "Network URL" not in said


def test_charts_are_drawn_for_a_light_and_for_a_dark_page(
    first_visit: Visit, phone_at_night: Visit
) -> None:
    assert first_visit.page.evaluate(INK) == LIGHT_INK
    assert phone_at_night.page.evaluate(INK) == DARK_INK


def test_the_origins_fit_on_a_phone(phone_at_night: Visit) -> None:
    page = phone_at_night.page
    page.get_by_role("tab", name="Origin of the numbers").click()
    page.wait_for_selector("text=Not modelled")
    assert not scrolls_sideways(page)
    page.get_by_role("tab", name="All").click()
    settle(page)


def test_charts_follow_a_browser_that_turns_light(phone_at_night: Visit) -> None:
    phone_at_night.page.emulate_media(color_scheme="light")
    drawn = f"document.querySelector('.ytick text') && {INK} === '{LIGHT_INK}'"
    phone_at_night.page.wait_for_function(drawn)


def test_a_key_press_on_the_load_changes_the_tiles_and_the_address(first_visit: Visit) -> None:
    page = first_visit.page
    before = page.locator(VALUE).all_inner_texts()
    page.locator("[data-testid=stSidebar] input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => [...document.querySelectorAll('[data-testid=stMetricValue]')]"
        ".map(tile => tile.innerText).join() !== before",
        arg=",".join(before),
    )
    page.wait_for_url("**/?e_load=8.5")


def test_what_does_not_fit_is_repaired_by_one_click(visit: Callable[..., Visit]) -> None:
    page = visit("e_weights=bf16&e_tensor_parallel=1").page
    assert "does not fit on 1 × H100" in page.locator(ANSWER).first.inner_text()
    page.get_by_role("button", name="Use tensor parallel").click()
    page.wait_for_selector(TILE)
    assert "e_tensor_parallel" not in page.url  # 2 is the scenario's own value
    assert "serve 8 requests/s" in page.locator(ANSWER).first.inner_text()


def test_a_deep_link_opens_what_it_says(visit: Callable[..., Visit]) -> None:
    page = visit("e_strategy=Speculative&e_draft_tokens=2&e_load=4&e_tab=Why%3A+roofline").page
    settle(page)
    assert "serve 4 requests/s" in page.locator(ANSWER).first.inner_text()
    page.wait_for_selector("text=× autoregressive decoding")
    assert "positions per pass" in page.locator("h5").first.inner_text()
