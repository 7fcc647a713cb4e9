"""The `workload` part of a scenario: what it accepts and refuses, and the traffic it draws."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.errors import InputError
from sim.records import Traffic
from sim.workload import ClosedLoop, Gamma, Poisson, Trace, Workload
from sim.workload.summary import spearman
from sim.yaml_files import validate

LENGTHS: dict[str, Any] = {
    "input_tokens": {"kind": "lognormal", "mean": 1000, "cv": 1},
    "output_tokens": {"kind": "quantiles", "preset": "azure-conv-2023"},
}
POISSON = {"kind": "poisson", "requests_per_s": 8}
GAMMA = {"kind": "gamma", "requests_per_s": 8, "cv": 2}
CLOSED = {"kind": "closed_loop", "users": 16, "think_s": 1.5}


def a_workload(arrivals: dict[str, Any] = POISSON, **changes: Any) -> Workload:
    return validate(Workload, {"arrivals": arrivals, **LENGTHS, **changes}, "scenario.yaml")


def a_trace(folder: Path) -> Path:
    path = folder / "trace.csv"
    path.write_text("arrival_s,input_tokens,output_tokens\n0,10,20\n1,30,40\n4,50,90\n")
    return path


def same_lengths(one: Traffic, other: Traffic) -> bool:
    return np.array_equal(one.input_tokens, other.input_tokens) and np.array_equal(
        one.output_tokens, other.output_tokens
    )


def test_open_loop_traffic_is_measured_and_then_goes_on_in_the_background() -> None:
    traffic = a_workload().draw(requests=500, seed=0)
    assert (len(traffic), traffic.measured) == (1000, 500)
    assert len(traffic.arrival_s) == len(traffic.output_tokens) == 1000
    assert traffic.steady_state
    assert traffic.users is None
    assert traffic.arrival_s[0] > 0
    assert np.all(np.diff(traffic.arrival_s) >= 0)


def test_a_closed_loop_has_users_and_no_arrival_times() -> None:
    traffic = a_workload(CLOSED).draw(requests=100, seed=0)
    assert (len(traffic), traffic.measured) == (100, 100)
    assert (traffic.users, traffic.think_s) == (16, 1.5)
    assert not traffic.steady_state
    assert not traffic.arrival_s.any()


def test_changing_the_arrivals_moves_no_length() -> None:
    poisson = a_workload(POISSON).draw(200, seed=7)
    assert same_lengths(poisson, a_workload(GAMMA).draw(200, seed=7))
    closed = a_workload(CLOSED).draw(400, seed=7)
    assert same_lengths(poisson, closed)


def test_changing_one_length_moves_neither_the_other_nor_the_arrivals() -> None:
    one = a_workload().draw(200, seed=7)
    other = a_workload(output_tokens={"kind": "fixed", "tokens": 5}).draw(200, seed=7)
    assert np.array_equal(one.input_tokens, other.input_tokens)
    assert np.array_equal(one.arrival_s, other.arrival_s)


@pytest.mark.parametrize("correlation", [0.0, -0.4, "azure-conv-2023"])
@pytest.mark.parametrize("arrivals", [POISSON, GAMMA, CLOSED], ids=lambda kind: kind["kind"])
def test_the_first_rows_do_not_depend_on_how_many_follow(
    arrivals: dict[str, Any], correlation: float | str
) -> None:
    workload = a_workload(arrivals, length_correlation=correlation)
    few, many = workload.draw(100, seed=3), workload.draw(1000, seed=3)
    for column in ("arrival_s", "input_tokens", "output_tokens"):
        first = getattr(few, column)
        assert np.array_equal(first, getattr(many, column)[: len(first)])


def test_the_same_seed_draws_the_same_and_another_seed_draws_anew() -> None:
    one, again, other = (a_workload().draw(100, seed) for seed in (0, 0, 1))
    assert same_lengths(one, again)
    assert np.array_equal(one.arrival_s, again.arrival_s)
    assert not np.array_equal(one.arrival_s, other.arrival_s)
    assert not np.array_equal(one.input_tokens, other.input_tokens)


def test_a_correlation_moves_only_the_outputs() -> None:
    free, tied = a_workload().draw(2000, 0), a_workload(length_correlation=0.8).draw(2000, 0)
    assert np.array_equal(free.input_tokens, tied.input_tokens)
    assert spearman(tied.input_tokens, tied.output_tokens) == pytest.approx(0.8, abs=0.04)


def test_a_trace_is_replayed_whole_and_its_rate_can_be_scaled(tmp_path: Path) -> None:
    path = a_trace(tmp_path)
    workload = a_workload({"kind": "trace", "path": str(path), "rate_scale": 2}, **_no_lengths())
    traffic = workload.draw(requests=1, seed=0)
    assert traffic.arrival_s.tolist() == [0.0, 0.5, 2.0]
    assert traffic.input_tokens.tolist() == [10, 30, 50]
    assert (traffic.measured, traffic.users, traffic.steady_state) == (3, None, False)
    assert workload.offered_requests_per_s == pytest.approx(1.0)
    assert workload.mean_tokens() == (30.0, 50.0)
    assert workload.with_rate(4.0).draw(1, 0).arrival_s.tolist() == [0.0, 0.125, 0.5]
    assert len(workload.draw(1, 0, limit=2)) == 2


def _no_lengths() -> dict[str, Any]:
    return {"input_tokens": None, "output_tokens": {"kind": "trace"}}


def test_a_trace_may_be_cut_and_its_path_may_be_relative_to_the_scenario(tmp_path: Path) -> None:
    a_trace(tmp_path)
    trace = Trace(path=Path("trace.csv"), max_requests=2)
    workload = Workload.model_validate({"arrivals": trace}).relative_to(tmp_path)
    assert len(workload.draw(100, 0)) == 2
    assert workload.offered_requests_per_s == pytest.approx(1.0)
    assert "2 requests, 1 requests/s" in workload.describe()


def test_rates_and_users_are_swept_without_touching_the_lengths() -> None:
    workload = a_workload(GAMMA)
    assert workload.with_rate(3.0).arrivals == Gamma(requests_per_s=3.0, cv=2)
    closed = workload.with_users(64)
    assert closed.arrivals == ClosedLoop(users=64)
    assert closed.offered_requests_per_s is None
    assert closed.with_rate(5.0).arrivals == Poisson(requests_per_s=5.0)
    assert a_workload(CLOSED).with_users(3).arrivals == ClosedLoop(users=3, think_s=1.5)
    assert same_lengths(workload.draw(50, 0), closed.draw(100, 0))


def test_a_preset_gives_arrivals_and_joint_lengths_that_can_be_amended() -> None:
    whole = Workload.model_validate({"preset": "azure-conv-2023"})
    assert whole.arrivals == Gamma(requests_per_s=5.53, cv=1.094)
    assert whole.length_correlation == "azure-conv-2023"
    assert whole.mean_tokens() == pytest.approx((1154.7, 211.13), rel=0.01)
    faster = Workload.model_validate(
        {"preset": "azure-conv-2023", "arrivals": {"requests_per_s": 20}}
    )
    assert faster.arrivals == Gamma(requests_per_s=20, cv=1.094)
    other = Workload.model_validate({"preset": "azure-conv-2023", "arrivals": CLOSED})
    assert other.arrivals == ClosedLoop(users=16, think_s=1.5)
    assert same_lengths(whole.draw(50, 0), other.draw(100, 0))


@pytest.mark.parametrize(
    "given",
    [
        {"preset": "azure-conv-2023"},
        {"preset": "azure-conv-2023", "arrivals": CLOSED, "length_correlation": 0.5},
        {"arrivals": POISSON, **LENGTHS},
        {"arrivals": {"kind": "trace", "path": "some.csv"}},
    ],
)
def test_a_workload_written_out_and_read_again_is_the_same(given: dict[str, Any]) -> None:
    workload = Workload.model_validate(given)
    assert Workload.model_validate(workload.model_dump(mode="json")) == workload


def test_a_workload_is_described_in_one_line() -> None:
    text = a_workload(input_tokens={"kind": "fixed", "tokens": 1024}).describe()
    assert text == (
        "Poisson arrivals, 8 requests/s; input 1,024 tokens, output tokens as in azure-conv-2023;"
        " mean 1,024 input and 211 output tokens"
    )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"arrivals": POISSON | {"requests_per_s": -1}}, "`arrivals.requests_per_s` should be gr"),
        ({"arrivals": {"kind": "poison"}}, "`arrivals` should be one of"),
        ({"arrivals": {"requests_per_s": 3}}, "`arrivals` needs the key `kind`"),
        ({"arrivals": POISSON | {"rate": 3}}, "`arrivals.rate` is not a key here"),
        ({"output_tokens": {"kind": "quantiles", "quantiles": {0.5: 3}}}, "at 0 and 1"),
        ({"output_tokens": {"kind": "trace"}}, "`output_tokens` from a trace, but `arrivals` is"),
        ({"length_correlation": 1.5}, "should lie between -1 and 1, found 1.5"),
        ({"output_tokens": None}, "`output_tokens`"),
        (
            {"arrivals": {"kind": "trace", "path": "t.csv"}},
            "takes its lengths from the trace: remove `input_tokens` and `output_tokens`",
        ),
        (
            {"arrivals": {"kind": "trace", "path": "t.csv"}, "preset": "azure-conv-2023"},
            "takes its lengths from the trace: remove `preset`",
        ),
        (
            {"arrivals": None, "preset": "azure-code-2023"},
            "needs `arrivals`: the preset azure-code-2023 has lengths only",
        ),
    ],
)
def test_a_wrong_workload_is_refused_in_one_sentence(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(Workload, {"arrivals": POISSON, **LENGTHS, **given}, "scenario.yaml")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_drawn_or_swept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"run\.requests: should be 1 or more, found 0"):
        a_workload().draw(0, seed=0)
    with pytest.raises(InputError, match="16 users cannot all be busy with 5 requests"):
        a_workload(CLOSED).draw(5, seed=0)
    with pytest.raises(InputError, match="a rate should be above 0"):
        a_workload().with_rate(0.0)
    with pytest.raises(InputError, match="users: should be 1 or more, found 0"):
        a_workload().with_users(0)
    path = a_trace(tmp_path)
    with pytest.raises(InputError, match="a trace brings its own arrivals"):
        Workload.from_trace(path).with_users(4)
    path.write_text("arrival_s,input_tokens,output_tokens\n5,1,1\n5,2,2\n")
    at_once = Workload.from_trace(path)
    assert at_once.offered_requests_per_s is None
    assert "all at once" in at_once.describe()
    with pytest.raises(InputError, match="the trace has no rate to scale"):
        at_once.with_rate(2.0)


def test_the_schema_requires_no_key_that_a_preset_or_a_trace_may_fill_in() -> None:
    schema = Workload.model_json_schema()
    assert "required" not in schema
    assert set(schema["properties"]) >= {"preset", "arrivals", "input_tokens", "output_tokens"}
