"""Which loads a frontier visits: users of a closed loop, or rates of a trace."""

from collections.abc import Sequence
from typing import Final

from sim.cost import PassLoad, even_load
from sim.decoding import typical_phase
from sim.engine import draft_pricer
from sim.errors import InputError
from sim.scenario import Scenario, Serving

TRACE_POINTS: Final = 9
LIGHTEST_SHARE: Final = 1 / 64
"""Lightest rate of a trace, as a share of the estimated capacity."""
HEAVIEST_SHARE: Final = 1.05


def user_ladder(most: int, points: int | None) -> tuple[int, ...]:
    """Return users per replica from 1 to `most`: powers of two, or so many steps of equal ratio.

    >>> user_ladder(48, None)
    (1, 2, 4, 8, 16, 32, 48)
    >>> user_ladder(256, 5)
    (1, 4, 16, 64, 256)
    """
    if points is None:
        doubled = [1 << power for power in range(most.bit_length())]
        return tuple(dict.fromkeys([*doubled, most]))
    return tuple(dict.fromkeys(round(step) for step in _geometric(1.0, float(most), points)))


def most_users(scenario: Scenario, serving: Serving) -> int:
    """Return the users per replica beyond which more would only queue.

    That is `max_sequences`, or where the KV pool is smaller what it holds of half-written answers.
    """
    prompt, answer = scenario.workload.mean_tokens()
    shape = serving.limits.kv
    held = max(1, int(shape.blocks / shape.blocks_for(prompt + answer / 2)))
    return min(serving.limits.max_sequences, held)


def rate_ladder(capacity_requests_per_s: float, points: int | None) -> tuple[float, ...]:
    """Return rates in steps of equal ratio up to just beyond an estimated capacity."""
    low, high = LIGHTEST_SHARE * capacity_requests_per_s, HEAVIEST_SHARE * capacity_requests_per_s
    return tuple(_geometric(low, high, points or TRACE_POINTS))


def estimated_capacity_requests_per_s(scenario: Scenario, serving: Serving) -> float:
    """Return roughly what the deployment completes at full batch; it only places the rates.

    Every request takes its own prefill and its share of the passes that a full batch decodes in.
    """
    prompt, answer = scenario.workload.mean_tokens()
    batch, strategy = most_users(scenario, serving), scenario.decoding
    queries = typical_phase(strategy, prompt, answer).positions
    cost = serving.cost
    load = even_load(cost, batch, prompt + answer / 2, queries)
    pass_s = cost.pass_s(load)
    drafter = draft_pricer(strategy.draft_work, cost, serving.draft_cost)
    if drafter is not None:
        own = even_load(cost, batch, prompt + answer / 2)
        pass_s += drafter.round_s(batch, own.context_tokens, own.capped)
    chunk = scenario.deployment.max_batched_tokens
    prefill = PassLoad(0, 0, 0.0, 0.0, 0.0, 1, chunk, chunk, chunk * prompt / 2)
    prefill_s = cost.pass_s(prefill) * prompt / chunk
    decode_s = strategy.mean_passes(answer) * pass_s / batch
    return scenario.deployment.replicas / (prefill_s + decode_s)


def check_points(points: int | None) -> None:
    """Refuse a ladder that is no ladder."""
    if points is not None and points < 2:
        raise InputError(f"a curve needs 2 loads or more, found {points}", where="points")


def _geometric(low: float, high: float, count: int) -> Sequence[float]:
    ratio = (high / low) ** (1 / (count - 1))
    return [low * ratio**step for step in range(count)]
