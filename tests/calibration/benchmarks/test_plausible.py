"""Figures of one run against each other: what cannot be true together is refused by name."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from calibration.benchmarks.plausible import contradiction
from calibration.importers import Benchmark, Lengths

FIGURES = {
    "ttft_mean_ms": 120.0, "ttft_median_ms": 110.0, "ttft_p99_ms": 300.0,
    "tpot_mean_ms": 20.0, "tpot_median_ms": 20.0, "tpot_p99_ms": 27.0,
    "itl_mean_ms": 20.0, "itl_median_ms": 18.0, "itl_p99_ms": 60.0,
    "requests_per_s": 4.0, "output_tokens_per_s": 1_000.0,
}  # fmt: skip
"""200 requests of 250 tokens each in 50 s: 4 requests/s, 1,000 tokens/s."""
RUN = Benchmark(
    case="a",
    tool="vllm",
    inputs=Lengths(1024.0),
    outputs=Lengths(250.0),
    prompts=200,
    figures=FIGURES,
    requests_per_s=4.2,
    duration_s=50.0,
)


def test_figures_that_agree_are_believed() -> None:
    assert contradiction(RUN) is None


@pytest.mark.parametrize(
    ("figures", "duration_s", "named"),
    [
        ({}, 5.0, ("a duration of 5 s are 40 requests/s", "file has 4:")),
        ({}, 5_000.0, ("a duration of 5,000 s are 0.04 requests/s", "file has 4:")),
        ({"requests_per_s": 40.0}, 50.0, ("40 requests/s of 250 tokens", "10,000", "1,000")),
        ({"output_tokens_per_s": 1.0}, None, ("1,000 tokens/s", "file has 1:")),
        ({"tpot_mean_ms": 200.0}, 50.0, ("TPOT", "mean of 200 ms", "percentile of 27 ms")),
        ({"ttft_mean_ms": 0.12}, 50.0, ("TTFT", "mean of 0.12 ms", "median of 110 ms")),
        (
            {"ttft_median_ms": 310.0, "ttft_mean_ms": 200.0},
            50.0,
            ("median of 310 ms", "percentile of 300 ms"),
        ),
        (
            {"tpot_mean_ms": 200.0, "tpot_p99_ms": 270.0},
            None,
            ("TPOT of 200 ms", "ITL of 20 ms"),
        ),
    ],
)
def test_figures_that_contradict_each_other_are_both_named(
    figures: Mapping[str, float], duration_s: float | None, named: tuple[str, ...]
) -> None:
    found = contradiction(replace(RUN, figures={**FIGURES, **figures}, duration_s=duration_s))
    assert found is not None
    assert all(part in found for part in named)


@pytest.mark.parametrize(
    ("figures", "duration_s"),
    [
        ({}, 85.0),  # warm-up and drain left out of the rates
        ({"ttft_mean_ms": 450.0}, 50.0),  # a queue of few: above the median and p99
        ({"ttft_mean_ms": 60.0}, 50.0),  # half of them wait, half do not: near median / 2
        ({"itl_mean_ms": 200.0, "itl_p99_ms": 400.0}, 50.0),  # ten tokens a chunk
    ],
)
def test_ramps_queues_and_chunks_are_no_contradiction(
    figures: Mapping[str, float], duration_s: float
) -> None:
    run = replace(RUN, figures={**FIGURES, **figures}, duration_s=duration_s)
    assert contradiction(run) is None
