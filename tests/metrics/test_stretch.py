"""Requests k times sooner, and all times k times longer afterwards: passes k times longer."""

from dataclasses import fields

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.metrics.stretch import later, sooner
from sim.records import Simulation, Traffic
from tests.laws.constant_pass import ConstantPass

LIMITS = Limits(
    replicas=2,
    max_sequences=4,
    max_batched_tokens=64,
    kv=KvShape(blocks=1000, block_tokens=16),
    max_context_tokens=1 << 20,
)


def served(traffic: Traffic, pass_s: float) -> Simulation:
    passes = traffic.output_tokens - 1
    return simulate(traffic, passes, Autoregressive(), ConstantPass(pass_s), LIMITS)


def open_loop() -> Traffic:
    rng = np.random.default_rng(0)
    inputs, outputs = rng.integers(1, 200, 300), rng.integers(1, 60, 300)
    return Traffic(np.cumsum(rng.exponential(0.1, 300)), inputs, outputs, measured=200)


def closed_loop() -> Traffic:
    rng = np.random.default_rng(1)
    outputs = rng.integers(1, 60, 200)
    arrival_s, inputs = np.zeros(200), np.full(200, 30)
    return Traffic(arrival_s, inputs, outputs, measured=200, users=7, think_s=0.3)


CASES = [(open_loop(), 0.5), (open_loop(), 1.25), (closed_loop(), 0.5), (closed_loop(), 2.0)]
"""In a closed loop of equal passes ties abound, and only a power of two leaves them ties."""


@pytest.mark.parametrize(("traffic", "factor"), CASES)
def test_stretching_a_run_is_a_run_with_longer_passes(traffic: Traffic, factor: float) -> None:
    stretched = later(served(sooner(traffic, factor), 0.01), factor)
    slower = served(traffic, 0.01 * factor)
    for part in ("records", "leaps", "in_system"):
        ours, theirs = getattr(stretched, part), getattr(slower, part)
        for field in fields(ours):
            value = getattr(ours, field.name)
            if isinstance(value, np.ndarray):
                np.testing.assert_allclose(
                    value, getattr(theirs, field.name), rtol=1e-9, err_msg=field.name
                )
    np.testing.assert_allclose(stretched.gaps.values, slower.gaps.values, rtol=1e-9)
    np.testing.assert_array_equal(stretched.gaps.weights, slower.gaps.weights)


def test_counts_and_lengths_are_left_alone() -> None:
    traffic = open_loop()
    halved = sooner(traffic, 2)
    np.testing.assert_array_equal(halved.arrival_s * 2, traffic.arrival_s)
    np.testing.assert_array_equal(halved.input_tokens, traffic.input_tokens)
    assert halved.measured == traffic.measured
