from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sim.errors import InputError
from sim.metrics.timeline import MOST_ROWS, timeline
from sim.records import Leaps, RequestRecords, Simulation
from sim.run import run
from sim.scenario import load_scenario

Records = Callable[..., RequestRecords]
Simulate = Callable[..., Simulation]
SomeLeaps = Callable[..., Leaps]


@pytest.fixture
def two_requests(a_records: Records, a_simulation: Simulate, some_leaps: SomeLeaps) -> Simulation:
    """Arrivals at 0 and 1 s; the second waits until the first is done at 3 s; both take 3 s.

    Passes of 0.5 s: two from 0 s, four from 1 s, six from 3 s; one sequence of 100 tokens.
    """
    records = a_records([0.0, 1.0], admitted_s=[0.0, 3.0], last_token_s=[3.0, 6.0])
    leaps = replace(
        some_leaps([0.0, 1.0, 3.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]),
        passes=np.array([2, 4, 6]),
        sequences=np.ones(3),
        kv_used_tokens=np.full(3, 100.0),
    )
    return a_simulation(records, leaps=leaps)


def test_each_bin_holds_what_happened_in_it(two_requests: Simulation) -> None:
    table = timeline(two_requests, bin_s=2.0)
    columns = {name: column.tolist() for name, column in table.columns.items()}
    assert columns["time_s"] == [0, 2, 4]
    assert columns["replica"] == [0, 0, 0]
    assert columns["queued"] == [0.5, 0.5, 0]  # the second waits from 1 to 3 s
    assert columns["inside"] == [1.5, 1.5, 1]
    assert columns["arrived"] == [2, 0, 0]
    assert columns["finished"] == [0, 1, 1]
    assert columns["running"] == pytest.approx([1, 1, 1])
    assert columns["busy"] == pytest.approx([1, 1, 1])
    assert columns["passes"] == pytest.approx([4, 4, 4])
    assert columns["pass_s"] == pytest.approx([0.5, 0.5, 0.5])
    assert columns["kv_used_tokens"] == pytest.approx([100, 100, 100])
    assert columns["kv_share"] == pytest.approx([0.1, 0.1, 0.1])


def test_a_bin_without_a_pass_has_no_pass_time(
    a_records: Records, a_simulation: Simulate, some_leaps: SomeLeaps
) -> None:
    records = a_records([0.0, 9.0], last_token_s=[1.0, 10.0])
    table = timeline(
        a_simulation(records, leaps=some_leaps([0.0, 9.0], [1.0, 1.0], [0, 0])), bin_s=5.0
    )
    assert table.columns["busy"].tolist() == pytest.approx([0.2, 0.2])
    quiet = timeline(
        a_simulation(records, leaps=some_leaps([0.0, 9.0], [1.0, 1.0], [0, 0])), bin_s=1.0
    )
    assert np.isnan(quiet.columns["pass_s"][1:9]).all()
    assert np.isnan(quiet.columns["pass_max_s"][1:9]).all()


def test_who_is_never_served_waits_in_a_row_of_its_own(
    a_records: Records, a_simulation: Simulate
) -> None:
    records = a_records(
        [0.0, 2.0],
        admitted_s=[0.0, np.nan],
        last_token_s=[4.0, np.nan],
        status=[0, 2],
        replica=[0, -1],
    )
    columns = timeline(a_simulation(records), bin_s=2.0).columns
    assert columns["replica"].tolist() == [0, 0, -1, -1]
    assert columns["queued"].tolist() == [0, 0, 0, 1]


def test_lanes_that_overlap_are_one_replica(
    a_records: Records, a_simulation: Simulate, some_leaps: SomeLeaps
) -> None:
    """Lane 0 runs from 0 to 2 s, lane 1 from 1 to 4 s: the replica is busy for 4 s of 5."""
    leaps = replace(
        some_leaps([0.0, 1.0], [2.0, 3.0], [0.0, 0.0]),
        replica=np.array([0, 1]),
        sequences=np.array([3.0, 5.0]),
        kv_used_tokens=np.array([100.0, 200.0]),
    )
    simulation = replace(
        a_simulation(a_records([0.0, 1.0], last_token_s=[2.0, 4.0]), leaps=leaps),
        lanes=2,
        replicas=1,
    )
    columns = timeline(simulation, bin_s=5.0).columns
    assert columns["replica"].tolist() == [0]
    assert columns["busy"].tolist() == pytest.approx([0.8])
    assert columns["passes"].tolist() == pytest.approx([2])
    assert columns["pass_s"].tolist() == pytest.approx([2.5])
    assert columns["pass_max_s"].tolist() == pytest.approx([3.0])
    assert columns["running"].tolist() == pytest.approx([(2 * 3 + 3 * 5) / 5])
    assert columns["kv_used_tokens"].tolist() == pytest.approx([(2 * 100 + 3 * 200) / 5])


@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        ("sessions-32b-h200", []),
        ("chat-70b-h100", ["deployment.attention_data_parallel=2", "deployment.replicas=2"]),
        ("chat-70b-h100", ["engine=sglang"]),
    ],
)
def test_of_lanes_sessions_and_passes_of_prompts_nothing_is_lost(
    scenario: str, settings: list[str]
) -> None:
    simulation = run(load_scenario(scenario, ["run.requests=200", *settings])).simulation
    table = timeline(simulation)
    columns, leaps, records = table.columns, simulation.leaps, simulation.records
    served = columns["replica"] >= 0
    assert set(columns["replica"][served]) == set(range(simulation.replicas))
    assert columns["passes"].sum() == pytest.approx(leaps.passes.sum())
    work_s = (leaps.sequences * leaps.duration_s).sum()
    assert columns["running"].sum() * table.bin_s == pytest.approx(work_s)
    assert columns["finished"].sum() == np.count_nonzero(~np.isnan(records.last_token_s))
    for replica in range(simulation.replicas):
        mine = columns["replica"] == replica
        here = leaps.replica // simulation.lanes == replica
        busy_s = columns["busy"][mine].sum() * table.bin_s
        assert busy_s <= leaps.duration_s[here].sum() * (1 + 1e-9)
        assert busy_s >= leaps.duration_s[here].sum() / simulation.lanes * (1 - 1e-9)


@pytest.mark.parametrize("bin_s", [None, 0.37, 50.0])
def test_over_a_real_run_the_bins_add_up(bin_s: float | None) -> None:
    outcome = run(load_scenario("chat-70b-h100", ["run.requests=400"]), intervals=False)
    simulation = outcome.simulation
    table = timeline(simulation, bin_s=bin_s)
    columns, width = table.columns, table.bin_s
    leaps, records = simulation.leaps, simulation.records
    assert columns["passes"].sum() == pytest.approx(leaps.passes.sum())
    assert columns["busy"].sum() * width == pytest.approx(leaps.duration_s.sum())
    arrived = ~np.isnan(records.arrival_s)
    assert columns["arrived"].sum() == np.count_nonzero(arrived)
    assert columns["finished"].sum() == np.count_nonzero(~np.isnan(records.last_token_s))
    waited = np.where(np.isnan(records.admitted_s), np.inf, records.admitted_s)
    end_s = columns["time_s"].max() + width
    total_s = (np.minimum(waited, end_s) - records.arrival_s)[arrived].sum()
    assert columns["queued"].sum() * width == pytest.approx(total_s, abs=1e-6)
    assert (columns["queued"] <= columns["inside"] + 1e-9).all()
    assert columns["kv_share"].max() <= 1


def test_the_usual_bins_are_round_and_a_thousand_at_most() -> None:
    outcome = run(load_scenario("chat-70b-h100", ["run.requests=400"]), intervals=False)
    table = timeline(outcome.simulation)
    assert len(table) <= 1000 * outcome.simulation.replicas
    leading = f"{table.bin_s:.0e}"[0]
    assert leading in "125"


def test_too_fine_bins_are_refused_with_a_width_that_works(two_requests: Simulation) -> None:
    with pytest.raises(InputError, match=f"more than {MOST_ROWS:,} rows"):
        timeline(two_requests, bin_s=1e-6)
