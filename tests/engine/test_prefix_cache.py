"""The prefix cache, by hand and on a published trace."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.engine.prefix_cache import PrefixCache
from sim.records import PrefixBlocks, Simulation, Traffic
from tests.laws.constant_pass import ConstantPass

MODES: tuple[Literal["leap", "pass"], ...] = ("leap", "pass")
EVERY_MODE = pytest.mark.parametrize("mode", MODES)
SHARED = os.environ.get("PARETOKEN_SHARED", Path(__file__).parents[2] / ".." / "shared" / "data")
TRACE = Path(SHARED) / "traces" / "mooncake_conversation_trace.jsonl"


def test_who_was_let_go_first_goes_first_and_a_tail_before_its_head() -> None:
    cache = PrefixCache()
    cache.pin([1, 2, 3])
    cache.pin([1, 2, 9])
    cache.release([1, 2, 3])
    assert (cache.pinned, cache.idle) == (3, 1)
    cache.release([1, 2, 9])
    cache.drop(2)  # 3 was let go first; then 9, the tail of the other
    assert cache.held([1, 2, 3]) == 2
    cache.drop(1)
    assert cache.held([1, 2]) == 1


def test_what_is_used_again_is_not_the_oldest_any_more() -> None:
    cache = PrefixCache()
    for name in (1, 2):
        cache.pin([name])
        cache.release([name])
    cache.pin([1])
    cache.release([1])
    cache.drop(1)
    assert (cache.held([1]), cache.held([2])) == (1, 0)


def test_no_more_is_dropped_than_there_is_and_what_is_pinned_stays() -> None:
    cache = PrefixCache()
    cache.pin([1, 2])
    cache.keep([1, 7])
    cache.drop(10)
    assert (cache.pinned, cache.idle) == (2, 0)


def serve(
    rows: Sequence[tuple[float, int, int, list[int]]],
    mode: Literal["leap", "pass"],
    blocks: int = 1000,
    **settings: Any,
) -> Simulation:
    """Serve (arrival in s, prompt, answer, names of blocks of 4 tokens); passes take 1 s."""
    times, inputs, outputs, names = zip(*rows, strict=True)
    shared = PrefixBlocks(
        np.cumsum([0, *map(len, names)]), np.array([n for row in names for n in row], np.int64), 4
    )
    answers = np.array(outputs)
    asked = Traffic(np.array(times), np.array(inputs), answers, len(rows), prefix_blocks=shared)
    room = Limits(1, 8, 8, KvShape(blocks, 4), 10_000, prefix_cache=True)
    room = replace(room, **settings)
    return simulate(asked, answers - 1, Autoregressive(), ConstantPass(1.0), room, mode=mode)


@EVERY_MODE
def test_the_second_prompt_computes_only_what_is_new(mode: Literal["leap", "pass"]) -> None:
    """18 tokens at 8 a pass take 3 passes; with 16 of them found, one is enough."""
    seen = serve([(0, 18, 1, [1, 2, 3, 4]), (100, 18, 1, [1, 2, 3, 4])], mode)
    assert seen.records.cached_input_tokens.tolist() == [0, 16]
    took_s = seen.records.last_token_s - seen.records.arrival_s
    np.testing.assert_allclose(took_s, [3.0, 1.0])


@EVERY_MODE
def test_at_least_one_token_is_computed(mode: Literal["leap", "pass"]) -> None:
    seen = serve([(0, 16, 1, [1, 2, 3, 4]), (100, 16, 1, [1, 2, 3, 4])], mode)
    assert seen.records.cached_input_tokens.tolist() == [0, 12]


@EVERY_MODE
def test_a_prefix_ends_with_the_first_block_that_differs(mode: Literal["leap", "pass"]) -> None:
    seen = serve([(0, 18, 1, [1, 2, 3, 4]), (100, 18, 1, [1, 9, 3, 4])], mode)
    assert seen.records.cached_input_tokens.tolist() == [0, 4]


@EVERY_MODE
def test_the_next_turn_finds_the_answer_to_the_last_one(mode: Literal["leap", "pass"]) -> None:
    """6 + 7 tokens leave 12 in the KV (the last one was never computed): three blocks of 4."""
    seen = serve([(0, 6, 7, [1, 2, 3]), (100, 15, 1, [1, 2, 3, 4])], mode)
    assert seen.records.cached_input_tokens.tolist() == [0, 12]


@EVERY_MODE
def test_what_a_later_prompt_needed_is_gone(mode: Literal["leap", "pass"]) -> None:
    """Of 6 blocks the first prompt leaves 4; the second needs 4, so 2 go: the last ones."""
    rows = [(0, 16, 1, [1, 2, 3, 4]), (100, 16, 1, [5, 6, 7, 8]), (200, 16, 1, [1, 2, 3, 4])]
    seen = serve(rows, mode, blocks=6)
    assert seen.records.cached_input_tokens.tolist() == [0, 0, 8]


@EVERY_MODE
def test_shared_blocks_are_counted_once(mode: Literal["leap", "pass"]) -> None:
    """Two requests of 5 blocks, 4 of them alike, run together in 6 blocks: apart they cannot."""
    alike = [1, 2, 3, 4]
    rows = [(0, 17, 1, alike), (100, 17, 3, alike), (100, 17, 3, alike)]
    seen = serve(rows, mode, blocks=6)
    assert seen.records.preemptions.sum() == 0
    np.testing.assert_allclose(seen.records.last_token_s[1:], 103.0)
    assert seen.kv_peak_share == 1.0
    apart = serve([(at_s, n, k, []) for at_s, n, k, _ in rows], mode, blocks=6)
    assert apart.records.last_token_s.max() > 105


@EVERY_MODE
def test_nothing_is_kept_where_it_is_switched_off(mode: Literal["leap", "pass"]) -> None:
    rows = [(0.0, 18, 1, [1, 2, 3, 4]), (100.0, 18, 1, [1, 2, 3, 4])]
    seen = serve(rows, mode, prefix_cache=False)
    assert not seen.records.cached_input_tokens.any()
    assert not seen.prefix_cache


@pytest.mark.skipif(not TRACE.exists(), reason="the Mooncake trace is not here")
@EVERY_MODE
def test_hits_on_the_mooncake_trace_are_those_that_a_set_finds(
    mode: Literal["leap", "pass"],
) -> None:
    """An infinite pool, one request after the other: who was seen before is found."""
    with TRACE.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:4000]
    known, expected = set[int](), list[int]()
    for row in rows:
        names, tokens = row["hash_ids"], row["input_length"]
        found = 0
        while found < (tokens - 1) // 512 and names[found] in known:
            found += 1
        expected.append(512 * found)
        known.update(names[: tokens // 512])
    inputs = np.array([row["input_length"] for row in rows])
    offsets = np.cumsum([0, *(len(row["hash_ids"]) for row in rows)])
    hashes = np.array([name for row in rows for name in row["hash_ids"]])
    asked = Traffic(
        np.linspace(0.0, 1e3 * len(rows), len(rows)),
        inputs,
        np.ones_like(inputs),
        len(rows),
        prefix_blocks=PrefixBlocks(offsets, hashes, 512),
    )
    room = Limits(1, 64, 1 << 20, KvShape(10**9, 16), 10**7, prefix_cache=True)
    cost = ConstantPass(1e-3)
    seen = simulate(asked, np.zeros_like(inputs), Autoregressive(), cost, room, mode=mode)
    assert seen.records.cached_input_tokens.tolist() == expected
    assert sum(expected) > 0.3 * inputs.sum()
