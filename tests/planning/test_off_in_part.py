import numpy as np
import pytest

from sim.metrics.calibration_share import Off, factors, with_calibration
from sim.metrics.result import Metrics
from sim.metrics.stretch import later, sooner
from sim.planning.off_in_part import first_requests, off_in_part
from sim.run import Outcome, assess, draw, run, serve
from sim.scenario import load_scenario

CALM = ["run.requests=3000", "deployment.replicas=1", "workload.arrivals.requests_per_s=1.5"]
STATISTICS = ("mean", "p50", "p90", "p99")


def outcome(*changes: str) -> Outcome:
    return run(load_scenario("chat-70b-h100", [*CALM, *changes]))


def of_all(one: Outcome, both: tuple[float, float]) -> Off:
    """Serve every request with other times: the method that the part stands in for."""
    scenario, serving = one.scenario, one.serving
    traffic = draw(scenario, serving, scenario.run.requests)
    served = [later(serve(scenario, serving, sooner(traffic, factor)), factor) for factor in both]
    found = [assess(scenario, serving, each, intervals=False)[0] for each in served]
    return Off(*found)


def half_widths(metrics: Metrics) -> dict[tuple[str, str, int], float]:
    """Return how far each interval reaches down and up."""
    found = dict[tuple[str, str, int], float]()
    for name, summary in metrics.latency.items():
        for statistic in STATISTICS:
            value, whole = summary.value(statistic), summary.widest(statistic)
            if value is not None and whole is not None:
                found |= {(name, statistic, side): abs(whole[side] - value) for side in (0, 1)}
    return found


SPECULATIVE = (
    "decoding={name: speculative, draft_tokens: 1, conditional_acceptance: [0.7],"
    " draft: {work_share: 0.05}}"
)
SERVED_IN_PART = (
    ["run.seed=3"],
    ["workload.arrivals.requests_per_s=3"],
    [SPECULATIVE],
)


def test_nine_of_ten_intervals_of_a_part_are_within_a_tenth_of_those_of_all() -> None:
    both, ratios = factors(0.113), list[float]()
    for changes in SERVED_IN_PART:
        whole = outcome(*changes)
        assert first_requests(whole) == 1000
        off = off_in_part(whole, 1000, both)
        assert off is not None
        exact = half_widths(with_calibration(whole.metrics, of_all(whole, both)))
        quick = half_widths(with_calibration(whole.metrics, off))
        assert quick.keys() == exact.keys()
        ratios += [quick[key] / width for key, width in exact.items()]
    assert np.mean(np.abs(np.array(ratios) - 1) <= 0.1) >= 0.9
    assert np.median(ratios) == pytest.approx(1, abs=0.02)  # and not to one side


def test_near_capacity_the_part_does_not_tell() -> None:
    # Times that are a fifth longer fill the deployment up: the number inside drifts.
    busy = outcome("workload.arrivals.requests_per_s=6.5")
    first = first_requests(busy)
    assert first is None or off_in_part(busy, first, factors(0.113)) is None


def test_where_requests_wait_for_a_place_all_of_them_are_served() -> None:
    assert first_requests(outcome("deployment.max_sequences=6")) is None


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(["run.requests=1900"], id="few requests"),
        pytest.param(["workload.arrivals={kind: closed_loop, users: 8}"], id="closed loop"),
        pytest.param(["workload.warmup_requests=100"], id="a warm-up of its own"),
        pytest.param(
            ["workload.classes=[{name: one, share: 0.5}, {name: two, share: 0.5}]"], id="classes"
        ),
    ],
)
def test_other_runs_are_served_whole(changes: list[str]) -> None:
    assert first_requests(outcome(*changes)) is None
