"""Tables on a page: what is folded where the line is short, and what never is."""

import re
from typing import Any

import pytest

from app.cli.page import Page
from sim.report.table import Table, columns


@pytest.fixture
def drawn(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Draw a table at a width and return its lines."""

    def draw(table: Table, width: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        page = Page()
        page.table(table)
        page.show()
        return capsys.readouterr().out.splitlines()

    return draw


WIDE = Table(
    "Wide",
    columns("<strategy", "tokens/s per user", "USD per 1M out", "<what it says of itself"),
    (("Autoregressive", "1,234", "$12.00", "one token a pass and nothing else besides"),),
)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_words_and_numbers_stay_whole_at_every_width(drawn: Any, width: int) -> None:
    text = " ".join(drawn(WIDE, width))
    words = " ".join(head.name for head in WIDE.columns) + " " + " ".join(WIDE.rows[0])
    for word in words.split():
        assert re.search(rf"(?<!\S){re.escape(word)}(?!\S)", text), word


def test_lines_keep_to_the_width_where_the_words_allow_it(drawn: Any) -> None:
    # 14 + 8 + 6 and six blanks leave 22 of 50 columns for the words
    assert max(map(len, drawn(WIDE, 50))) == 50


def test_an_address_is_folded_after_a_slash(drawn: Any) -> None:
    table = Table("Sources", columns("<read in"), (("https://example.org/a/long/path.html",),))
    lines = drawn(table, 24)[3:]
    assert lines == ["https://example.org/a/", "long/path.html"]


def test_a_table_that_fits_is_not_folded(drawn: Any) -> None:
    assert drawn(WIDE, 200)[1].endswith("what it says of itself")
