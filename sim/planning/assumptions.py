"""What a reader of a frontier must know, in sentences."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from sim.metrics.slo import Slo
from sim.planning.ladder import tie_band
from sim.planning.point import JUDGED, Point
from sim.planning.strategies import Entry
from sim.scenario import Scenario
from sim.units import MS_PER_S, counted
from sim.workload import Fixed, Trace

FALL: Final = 0.05
"""Fall of the throughput towards a heavier load that a reader is told of."""
_CURVE: Final = (
    "Between the loads of one deployment the curve is interpolated, straight on log-log axes; "
    "where several widths were asked for, the better one counts."
)
_NOT_IN_IT: Final = "The error of the calibration is not in the numbers."
_CLOSED: Final = (
    "from a closed loop: each user sends the next request when the answer is complete. Random "
    "arrivals at the same rate wait otherwise: longer where they bunch."
)
_IN_STEP: Final = (
    "All answers have one length, so that users who began together stay in step and wait for the "
    "prompts of all; a strategy whose passes are drawn gets them out of step. Give the answers a "
    "spread to compare them."
)
_MORE: Final = "requests or more (four for each user)"
_ONE: Final = (
    "a point, after the start has worn off. One replica is simulated and stands for all: "
    "they are alike and served in turn."
)


def assumptions(scenario: Scenario, compared: Sequence[Entry], requests: int) -> tuple[str, ...]:
    """Return one sentence for each thing that the numbers take for granted."""
    return (
        *_traffic(scenario, requests),
        *_targets(scenario.slo),
        _CURVE,
        f"One run a point: a lead below {tie_band(requests):.0%} is called a tie. {_NOT_IN_IT}",
        *(sentence for item in compared for sentence in _strategy(item)),
    )


def unsteady(points: Sequence[Point]) -> list[str]:
    """Name the points whose throughput lies below that of a lighter load by more than noise.

    More users never get less done in a deployment that keeps its batch in memory; where they do,
    it is the noise of one run, or requests that lose their KV and compute it again.
    """
    sentences = []
    for before, after in pairwise(points):
        same = (before.strategy, before.tensor_parallel) == (after.strategy, after.tensor_parallel)
        slow, fast = after.output_tokens_per_s_per_gpu, before.output_tokens_per_s_per_gpu
        if same and slow and fast and before.users and after.users and slow < fast * (1 - FALL):
            sentences.append(
                f"{after.strategy}: {after.users:,} users get {1 - slow / fast:.0%} less out of a"
                f" GPU than {counted(before.users, 'user')}: noise of one run, or requests that"
                " are preempted and computed again."
            )
    return sentences


def _traffic(scenario: Scenario, requests: int) -> list[str]:
    if isinstance(scenario.workload.arrivals, Trace):
        what = scenario.workload.describe()
        return [f"{what}: the first {requests:,} at most, replayed faster and slower."]
    prompt, answer = scenario.workload.mean_tokens()
    lengths = f"mean {prompt:,.0f} input and {answer:,.0f} output tokens"
    in_step = [_IN_STEP] if isinstance(scenario.workload.output_tokens, Fixed) else []
    return [
        f"Requests as in the scenario ({lengths}) {_CLOSED}",
        *in_step,
        f"{requests:,} {_MORE} {_ONE}",
    ]


def _targets(slo: Slo) -> list[str]:
    words = {"ttft": "the first token", "max_gap": "the longest pause"}
    kept = [
        f"{words[name]} within {limit_s * MS_PER_S:,.0f} ms for {slo.attainment:.0%} of requests"
        for name, limit_s in slo.per_request_s().items()
        if name in JUDGED
    ]
    for name, limit_s in slo.on_percentiles_s().items():
        quantity, _, percentile = name.rpartition("_")
        if quantity in JUDGED:
            kept.append(f"{words[quantity]} within {limit_s * MS_PER_S:,.0f} ms at {percentile}")
    if not kept:
        return ["No target on the first token or on pauses: every point counts."]
    return [f"A point counts if it keeps {' and '.join(kept)}."]


def _strategy(item: Entry) -> list[str]:
    sentences = []
    if item.decoding.assumed and not item.what_if:
        sentences.append(f"{item.label}: {item.decoding.basis}; assumed, for every request alike.")
    if item.what_if:
        sentences.append(
            f"{item.label}: a what-if, assumed; the model was not trained for it and its quality "
            "is unknown."
        )
    elif not item.lossless:
        sentences.append(f"{item.label}: another model, whose quality is not compared.")
    return sentences
