"""Waterfalls: what adds up, what is coloured, what is said."""

import pytest

from sim.cost import Operation
from sim.metrics.result import Stage
from sim.report.figures import (
    pass_finding,
    pass_waterfall_figure,
    waterfall_figure,
    waterfall_finding,
)
from sim.report.figures.palette import DARK, FAMILIES, LIGHT, Palette

STAGES = (
    Stage("network", 0.030, "assumed"),
    Stage("queue", 0.179, "simulated"),
    Stage("prefill and first pass", 0.048, "simulated"),
    Stage("detokenise", 0.002, "assumed"),
)
# One layer's worth twice: 2 x 3 ms of products, 2 x 1 ms of attention, 2 x 0.5 ms of all-reduce.
OPERATIONS = (
    Operation("qkv projection", 2, 0.001, flop=1e12, bytes_moved=1e9, memory_s=0.001),
    Operation("down projection", 2, 0.002, flop=1e12, bytes_moved=1e9, memory_s=0.002),
    Operation("decode attention", 2, 0.001, flop=1e9, bytes_moved=1e9, memory_s=0.001),
    Operation("all-reduce", 2, 0.0005, bytes_moved=1e6, kind="collective"),
    Operation("host", 1, 0.0002, kind="host"),
)


def test_every_part_begins_where_the_one_before_ends_and_the_last_bar_is_the_sum() -> None:
    (bars,) = waterfall_figure(STAGES).data
    assert list(bars.x) == pytest.approx([30, 179, 48, 2, 259])
    assert list(bars.base) == pytest.approx([0, 30, 209, 257, 0])
    assert bars.y[-1] == "Mean TTFT"


@pytest.mark.parametrize(("dark", "palette"), [(False, LIGHT), (True, DARK)])
def test_only_the_largest_part_has_the_colour_of_the_strategy(
    dark: bool, palette: Palette
) -> None:
    (bars,) = waterfall_figure(STAGES, strategy="block_diffusion", dark=dark).data
    hue = FAMILIES["block_diffusion"].color(dark=dark)
    fill = palette.fill
    assert list(bars.marker.color) == [fill, hue, fill, fill, palette.accent]


def test_labels_have_room_beside_the_longest_bar() -> None:
    drawn = waterfall_figure(STAGES)
    assert drawn.layout.xaxis.range[1] == pytest.approx(1.38 * 259)


def test_shares_are_of_the_whole() -> None:
    (bars,) = waterfall_figure(STAGES).data
    assert bars.text[1] == "<b>179 ms</b> 69%"
    assert bars.text[-1] == "<b>259 ms</b>"


def test_the_finding_names_the_largest_stage() -> None:
    assert waterfall_finding(STAGES) == "Queue takes 69% of the wait for the first token"
    only_prefill = (Stage("prefill and first pass", 0.1, "simulated"),)
    assert waterfall_finding(only_prefill) == "Prefill is all of the wait for the first token"
    assert waterfall_finding(()) == "No request waits for its first token"


def test_a_pass_is_shown_by_kind_of_work() -> None:
    (bars,) = pass_waterfall_figure(OPERATIONS).data
    assert dict(zip(bars.y, bars.x, strict=True)) == pytest.approx(
        {
            "Weights, GEMMs": 6,
            "Decode attention": 2,
            "All-reduce": 1,
            "Host": 0.2,
            "One pass": 9.2,
        }
    )


def test_a_round_has_its_drafter_in_it() -> None:
    (bars,) = pass_waterfall_figure(OPERATIONS, draft_s=0.0028).data
    assert list(bars.y[-2:]) == ["Drafter", "One round"]
    assert bars.x[-1] == pytest.approx(12)


def test_the_finding_of_a_pass_says_what_takes_the_time_and_what_comes_of_it() -> None:
    assert pass_finding(OPERATIONS) == "GEMMs take 65% of a pass"
    assert (
        pass_finding(OPERATIONS, draft_s=0.0028, tokens_per_pass=2.5)
        == "GEMMs take 50% of a round; it yields 2.5 tokens"
    )
    assert pass_finding(()) == "A pass takes no time"


@pytest.mark.parametrize("name", ["network", "queue", "prefill and first pass", "detokenise"])
def test_findings_stay_on_one_line(name: str) -> None:
    assert len(waterfall_finding((Stage(name, 1.0, "simulated"),))) <= 52
    slow = Operation("prefill attention", 1, 1.0, flop=1.0, bytes_moved=1.0)
    assert len(pass_finding((slow,), draft_s=0.1, tokens_per_pass=12.5)) <= 52


def test_the_same_figure_is_the_same_bytes() -> None:
    assert waterfall_figure(STAGES).to_json() == waterfall_figure(STAGES).to_json()
