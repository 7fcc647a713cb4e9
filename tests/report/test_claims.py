"""The page says what the simulator measures now, and each claim is still one."""

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sim.planning.claims import Claims, claims
from sim.report.claims import claims_document, claims_files, claims_told
from sim.report.document import to_json

DOCS = Path(__file__).parents[2] / "docs"


@cache
def found() -> Claims:
    return claims()


def test_every_number_of_the_page_is_that_of_the_run() -> None:
    for name, text in claims_files(found()).items():
        assert (DOCS / name).read_text("utf-8") == text, f"{name}: meant? then: make claims"


def test_the_open_loop_is_slower_than_the_closed_one_at_a_lower_rate() -> None:
    closed, opened = found().closed, found().open
    assert opened.requests_per_s < closed.requests_per_s
    assert opened.ttft_s("p99") > 1.5 * closed.ttft_s("p99")
    assert opened.inside_targets < closed.inside_targets


def test_the_mean_says_little_of_the_tail_and_fixed_lengths_hide_it() -> None:
    opened, fixed, spread = found().open, found().fixed, found().spread
    assert opened.ttft_s("p99") > 3 * opened.ttft_s("mean") > 3 * opened.ttft_s("p50")
    assert spread.ttft_s("p99") > 2 * fixed.ttft_s("p99")
    assert fixed.requests_per_s == pytest.approx(spread.requests_per_s, rel=0.03)


def test_cold_is_longer_than_any_warm_wait() -> None:
    assert found().cold.first_ttft_s > 10 * found().open.ttft_s("p99")


def test_each_claim_has_one_figure_that_any_browser_draws() -> None:
    files = claims_files(found())
    page = files["claims.md"]
    for claim in claims_told(found()):
        name = f"claims/{claim.key}.svg"
        assert page.count(f"]({name})") == 1
        drawing = ET.fromstring(files[name])
        texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
        assert len(texts) == 2 * len(claim.bars)
        assert all(bar.text in texts for bar in claim.bars)
        assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg", "", files[name])


def test_the_longest_bar_is_the_largest_value() -> None:
    for claim in claims_told(found()):
        drawing = ET.fromstring(claims_files(found())[f"claims/{claim.key}.svg"])
        rects = drawing.iter("{http://www.w3.org/2000/svg}rect")
        widths = [float(rect.attrib["width"]) for rect in rects]
        most = max(bar.value for bar in claim.bars)
        for bar, width in zip(claim.bars, widths, strict=True):
            # A pixel at least, so that nothing vanishes.
            assert width == pytest.approx(max(1.0, bar.value / most * max(widths)), abs=0.06)


def test_the_document_holds_plain_numbers() -> None:
    document = claims_document(found())
    assert to_json(document)
    assert document["measured"]["open"]["ttft_p99_ms"] == pytest.approx(
        found().open.ttft_s("p99") * 1000
    )
