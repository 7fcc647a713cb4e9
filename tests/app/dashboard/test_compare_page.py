"""Compare without a browser: the table, the anatomy beside it, and the knobs of the request."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.dashboard.state import START

SCRIPT = Path(__file__).parents[3] / "app" / "dashboard" / "app.py"


@pytest.fixture
def page() -> AppTest:
    """The page with the scenario that opens first."""
    opened = AppTest.from_file(str(SCRIPT), default_timeout=120)
    opened.switch_page("views/compare.py")
    opened.run()
    assert not opened.exception
    return opened


def texts(page: AppTest) -> str:
    return "\n".join(str(element.value) for element in [*page.markdown, *page.caption])


def test_the_page_opens_with_who_wins_a_table_and_the_anatomy(page: AppTest) -> None:
    assert page.main.markdown[0].value.startswith(f"### {START}: the median answer")
    seen = texts(page)
    for title in (
        "What each strategy gives",
        "Who wins where",
        "Why",
        "The passes of one request",
    ):
        assert title in seen
    assert len(page.table) == 6
    strategies = [str(name).replace("\u00a0", " ") for name in page.table[0].value.columns[1:]]
    assert strategies == ["Autoregressive", "Speculative", "Block diffusion (what-if)"]


def test_the_request_that_is_taken_apart_follows_its_knobs(page: AppTest) -> None:
    before = {str(table.value.columns[-1]): table.value.to_csv() for table in page.table}
    page.number_input(key="c_output").set_value(32).run()
    assert not page.exception
    after = {str(table.value.columns[-1]): table.value.to_csv() for table in page.table}
    changed = {last for last, content in after.items() if content != before[last]}
    assert changed == {"bound by", "longest gap"}  # the comparison is that of the traffic
    assert "and 32 out" in texts(page)


def test_without_a_strategy_the_page_says_what_to_do(page: AppTest) -> None:
    for box in page.checkbox:
        box.uncheck()
    page.run()
    assert not page.exception
    assert "Choose a strategy" in page.info[0].value


def test_a_request_that_can_never_run_is_told_of(page: AppTest) -> None:
    page.number_input(key="c_input").set_value(900_000).run()
    assert not page.exception
    assert "can never run" in texts(page)
