"""The frontier as a figure, as a page and as a sentence."""

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sim.planning import Frontier, frontier
from sim.report.figures import frontier_figure, frontier_finding, frontier_html
from sim.report.figures.palette import FAMILIES
from sim.scenario import build_scenario


@cache
def swept(max_gap_ms: float | None = None) -> Frontier:
    content = {
        "name": "test <of> escaping",
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "deployment": {"max_sequences": 64},
        "strategies": [
            {
                "name": "speculative",
                "draft_tokens": 3,
                "survival": [0.7, 0.5, 0.3],
                "draft": {"work_share": 0.1},
            },
            {
                "name": "block_diffusion",
                "block_tokens": 32,
                "denoise_passes": 8,
                "what_if": True,
            },
        ],
        "slo": {"max_gap_ms": max_gap_ms},
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": 1},
            "input_tokens": {"kind": "fixed", "tokens": 500},
            "output_tokens": {"kind": "fixed", "tokens": 128},
        },
        "prices": {"usd_per_gpu_hour": 3.6, "source": "made up for a test", "as_of": "2026-01"},
    }
    return frontier(build_scenario(content, where="test", folder=Path()), points=3, requests=50)


def markers(found: Frontier, symbol: str, *, opaque: bool, dark: bool = False) -> list[Any]:
    return [
        trace
        for trace in frontier_figure(found, dark=dark).data
        if trace.mode == "markers"
        and len(trace.x)
        and trace.marker.symbol == symbol
        and (trace.marker.opacity == 1) == opaque
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_markers_stand_at_the_points_of_the_line_in_the_strategys_colour(dark: bool) -> None:
    families = ("autoregressive", "eagle", "block_diffusion")
    for item, family in zip(swept().entries, families, strict=True):
        look, best = FAMILIES[family], swept().best[item.strategy]
        (trace,) = markers(swept(), look.symbol, opaque=True, dark=dark)
        points = [point for point in swept().points if best.holds(point)]
        assert list(trace.x) == [point.user_tokens_per_s for point in points]
        assert list(trace.y) == [point.output_tokens_per_s_per_gpu for point in points]
        assert trace.marker.color == look.color(dark=dark)


def test_a_marker_leads_back_to_its_point() -> None:
    for trace in frontier_figure(swept()).data:
        for x, place in zip(trace.x, trace.customdata or (), strict=False):
            assert swept().points[place].user_tokens_per_s == x


def test_points_that_would_be_better_but_miss_a_target_are_open_and_explained() -> None:
    drawn = frontier_figure(swept(12.0))
    (trace,) = markers(swept(12.0), "circle-open", opaque=False)
    best = swept(12.0).best["autoregressive"]
    assert all(y > (best.at(x) or 0.0) for x, y in zip(trace.x, trace.y, strict=True))
    texts = [note.text for note in drawn.layout.annotations]
    assert "open markers miss a target" in texts
    plain = [note.text for note in frontier_figure(swept()).layout.annotations]
    assert "open markers miss a target" not in plain


def test_every_strategy_is_named_at_its_line_and_a_what_if_says_so() -> None:
    texts = [note.text for note in frontier_figure(swept()).layout.annotations]
    assert texts == [
        "<b>Autoregressive</b>",
        "<b>Speculative</b>",
        "<b>Block diffusion (what-if)</b>",
    ]


def test_the_target_is_drawn_with_its_words() -> None:
    drawn = frontier_figure(swept(), target=50)
    assert drawn.layout.shapes[0].x0 == 50
    assert "your target: 50 tokens/s per user" in [n.text for n in drawn.layout.annotations]


def test_dollars_are_drawn_cheaper_upwards() -> None:
    drawn = frontier_figure(swept(), vertical="usd")
    low, high = drawn.layout.yaxis.range
    assert low > high  # log10 of USD: the axis is turned round
    trace = next(t for t in drawn.data if t.mode == "markers" and t.y)
    point = swept().points[trace.customdata[0]]
    assert point.output_tokens_per_usd is not None
    assert trace.y[0] == pytest.approx(1e6 / point.output_tokens_per_usd)


def test_the_finding_compares_with_the_baseline_at_the_target() -> None:
    (rung,) = swept().ladder([100])
    finding = frontier_finding(swept(), target=100)
    assert finding.startswith("At 100 tokens/s per user, ")
    assert rung.winner is not None
    assert swept().label(rung.winner).lower() in finding
    assert "out of each H100" in finding


def test_the_finding_without_a_target_goes_through_the_speeds() -> None:
    finding = frontier_finding(swept())
    assert [
        swept().label(region.winner).lower() in finding.lower() for region in swept().regions()
    ]
    assert finding.count("up to") == len(swept().regions())


def test_a_speed_that_nobody_reaches_is_said_plainly() -> None:
    assert frontier_finding(swept(), 1e6) == "No strategy gives each user 1,000,000 tokens/s"
    assert frontier_finding(swept(1e-3)).startswith("Block diffusion") or (
        frontier_finding(swept(1e-3)) == "No strategy meets the targets at any load"
    )


class Tags(HTMLParser):
    """Collect what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.cells += tag == "td"
        if tag in {"script", "img", "link", "iframe"}:
            self.loaded += [value for key in ("src", "href") if (value := names.get(key))]


def test_the_page_needs_nothing_from_outside() -> None:
    tags = Tags()
    tags.feed(frontier_html(swept()))
    assert tags.loaded == []
    assert tags.cells > 0


def test_the_page_holds_finding_ladder_assumptions_and_origins() -> None:
    page = frontier_html(swept(), target=100)
    assert f"<title>{frontier_finding(swept(), 100)}</title>" in page
    assert "test &lt;of&gt; escaping" in page
    for line in swept().assumptions:
        assert line.split(":")[0].split("(")[0] in page
    for word in ("measured", "assumed", "kernels", "made up for a test"):
        assert word in page
    assert len(re.findall(r"<tr><td>[\d,]+</td>", page)) == len(swept().ladder())


def test_the_same_frontier_is_the_same_page() -> None:
    assert frontier_html(swept()) == frontier_html(swept())


def _said(found: Frontier, per_gpu: dict[str, list[float]], tie: float = 0.05) -> str:
    """Return the finding where strategies give so much at 10, 50 and 100 tokens/s a user."""
    entries = tuple(item for item in found.entries if item.strategy in per_gpu)
    points = tuple(
        replace(
            found.points[0],
            strategy=name,
            status="ok",
            user_tokens_per_s=speed,
            output_tokens_per_s_per_gpu=value,
        )
        for name, values in per_gpu.items()
        for speed, value in zip((10.0, 50.0, 100.0), values, strict=True)
    )
    return frontier_finding(replace(found, entries=entries, points=points, tie=tie))


def test_the_finding_respects_ties_and_says_what_a_lone_strategy_gets() -> None:
    plain, _, third = (item.strategy for item in swept().entries)
    # 3 % and 0 % apart are ties at 5 %, 50 % and 25 % are none
    some = _said(swept(), {plain: [1000, 600, 200], third: [970, 300, 150]})
    assert "gets the most out of each H100 at every speed up to 100 tokens/s per user" in some
    assert "save for ties (less than 5% apart) between autoregressive decoding and" in some
    assert some.endswith(" at 10")
    every = _said(swept(), {plain: [1000, 600, 200], third: [970, 590, 199]})
    assert "get as much out of each H100 (less than 5% apart) at every speed up to 100" in every
    alone = _said(swept(), {plain: [1000, 600, 200]})
    assert alone == (
        "Autoregressive decoding gets out of each H100 1,000 tokens/s at 10 tokens/s per user,"
        " 200 tokens/s at 100 tokens/s per user"
    )
