"""What begins alike has the same names: system prompts and the history of sessions."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sim.errors import InputError
from sim.records import PrefixBlocks, Traffic
from sim.workload import Workload
from sim.yaml_files import validate

GIVEN: dict[str, Any] = {
    "arrivals": {"kind": "poisson", "requests_per_s": 1},
    "input_tokens": {"kind": "uniform", "low": 20, "high": 200},
    "output_tokens": {"kind": "uniform", "low": 5, "high": 90},
}


def blocks_of(traffic: Traffic) -> PrefixBlocks:
    assert traffic.prefix_blocks is not None
    return traffic.prefix_blocks


def names(traffic: Traffic, row: int) -> list[int]:
    blocks = blocks_of(traffic)
    found: list[int] = blocks.hashes[blocks.offsets[row] : blocks.offsets[row + 1]].tolist()
    return found


def shared(one: list[int], other: list[int]) -> int:
    """Blocks that two requests have in common from the start."""
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return same


def test_requests_that_share_nothing_have_no_names() -> None:
    assert validate(Workload, GIVEN, "here").draw(10, 0).prefix_blocks is None


def test_a_shared_prompt_stands_in_front_and_its_full_blocks_have_names() -> None:
    given = {**GIVEN, "shared_prefix_tokens": 70, "prefix_block_tokens": 16}
    traffic = validate(Workload, given, "here").draw(20, 0)
    plain = validate(Workload, GIVEN, "here").draw(20, 0)
    np.testing.assert_array_equal(traffic.input_tokens, plain.input_tokens + 70)
    assert all(names(traffic, row) == [0, 1, 2, 3] for row in range(20))
    assert blocks_of(traffic).block_tokens == 16


def test_one_of_several_prompts_is_drawn_for_each_request() -> None:
    given = {**GIVEN, "shared_prefix_tokens": 32, "shared_prefixes": 4}
    traffic = validate(Workload, given, "here").draw(8_000, 0)
    firsts = np.array([names(traffic, row)[0] for row in range(len(traffic))])
    counts = np.bincount(firsts // 2, minlength=4)
    assert set(firsts) == {0, 2, 4, 6}  # two blocks each
    assert np.all(np.abs(counts / len(traffic) - 0.25) < 4 * np.sqrt(0.1875 / len(traffic)))


def test_prompts_of_different_classes_have_different_names() -> None:
    classes = [
        {"name": "a", "share": 0.5, "shared_prefix_tokens": 48, "shared_prefixes": 2},
        {"name": "b", "share": 0.3, "shared_prefix_tokens": 16},
        {"name": "c", "share": 0.2},
    ]
    traffic = validate(Workload, {**GIVEN, "classes": classes}, "here").draw(500, 0)
    by_class: dict[int, set[int]] = {0: set(), 1: set(), 2: set()}
    for row in range(len(traffic)):
        by_class[int(traffic.request_class[row])] |= set(names(traffic, row))
    assert by_class == {0: {0, 1, 2, 3, 4, 5}, 1: {6}, 2: set()}


def test_a_turn_begins_with_all_that_was_said_and_other_sessions_do_not() -> None:
    session = {"turns": {"kind": "uniform", "low": 1, "high": 5}}
    given = {**GIVEN, "shared_prefix_tokens": 40, "sessions": session}
    traffic = validate(Workload, given, "here").draw(60, 0)
    assert traffic.turns is not None
    first = traffic.turns.first
    for start, end in pairwise(first):
        for row in range(start + 1, end):
            said = int(traffic.input_tokens[row - 1] + traffic.output_tokens[row - 1])
            assert shared(names(traffic, row - 1), names(traffic, row)) == said // 16
    others = [shared(names(traffic, 0), names(traffic, int(row))) for row in first[1:-1]]
    assert set(others) == {40 // 16}  # the system prompt, and no more
    lengths = np.diff(blocks_of(traffic).offsets)
    np.testing.assert_array_equal(lengths, (traffic.input_tokens + traffic.output_tokens) // 16)


def test_more_names_than_memory_holds_are_refused() -> None:
    given = {**GIVEN, "shared_prefix_tokens": 5_000_000, "prefix_block_tokens": 1}
    with pytest.raises(InputError, match=r"prefix_block_tokens: .* would be named; raise it"):
        validate(Workload, given, "here").draw(20, 0)
