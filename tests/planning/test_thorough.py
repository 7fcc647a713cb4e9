from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from sim.errors import InputError
from sim.hardware.uncertainty import LogError
from sim.planning import precision, thorough
from sim.planning.thorough import run_thoroughly
from sim.report.answer import answer, context
from sim.report.document import outcome_document, to_json
from sim.report.seeds import precision_sentence
from sim.run import Outcome, run
from sim.scenario import Scenario, load_scenario

SMALL = ["run.requests=300", "deployment.replicas=2", "workload.arrivals.requests_per_s=4"]


def small(*changes: str) -> Scenario:
    return load_scenario("chat-70b-h100", [*SMALL, *changes])


def test_one_seed_is_the_plain_run() -> None:
    plain, careful = run(small()), run_thoroughly(small())
    for name, one in plain.metrics.latency.items():  # the kernels' error comes on top
        assert replace(careful.metrics.latency[name], whole=one.whole) == one
    assert careful.metrics.requests == plain.metrics.requests
    assert careful.replications is None


def test_seeds_are_runs_of_their_own_whose_means_are_averaged() -> None:
    together = run_thoroughly(small("run.seeds=3"), workers=1)
    alone = [run(small(f"run.seed={seed}")).metrics for seed in range(3)]
    means = [metrics.latency["ttft"].mean or 0.0 for metrics in alone]
    assert together.metrics.latency["ttft"].mean == pytest.approx(np.mean(means))
    assert together.metrics.requests.offered == sum(m.requests.offered for m in alone)
    assert together.replications is not None
    assert together.replications.runs == 3
    assert "3 seeds from 0 on" in context(together)
    rates = [metrics.throughput.requests_per_s or 0.0 for metrics in alone]
    assert together.metrics.throughput.requests_per_s == pytest.approx(np.mean(rates))
    cost, rate = together.cost, together.metrics.throughput.requests_per_s
    assert cost is not None
    assert rate is not None
    assert cost.usd_per_request == pytest.approx(cost.usd_per_hour / 3600 / rate)


def test_work_is_added_up_over_the_runs_and_usage_is_over_the_time_of_all() -> None:
    together = run_thoroughly(small("run.seeds=2"), workers=1)
    alone = [run(small(f"run.seed={seed}")) for seed in (0, 1)]
    assert together.work.passes == sum(one.work.passes for one in alone)
    assert together.work.window_s == pytest.approx(sum(one.work.window_s for one in alone))
    used = [one.usage for one in alone if one.usage is not None]
    assert together.usage is not None
    busy_s = sum(one.busy_s for one in used)
    assert together.usage.busy_s == pytest.approx(busy_s)
    mfu = sum(one.mfu * one.busy_s for one in used) / busy_s
    assert together.usage.mfu == pytest.approx(mfu)
    found = [one.metrics.utilisation.cached_input for one in (together, *alone)]
    shares = [share for share in found[1:] if share is not None]
    assert found[0] == (pytest.approx(np.mean(shares)) if shares else None)


def test_processes_change_nothing_and_the_same_seeds_give_the_same_bytes() -> None:
    one, two = (run_thoroughly(small("run.seeds=3"), workers=workers) for workers in (1, 2))
    assert to_json(outcome_document(one)) == to_json(outcome_document(two))


def test_more_seeds_tighten_the_interval() -> None:
    few, many = (run_thoroughly(small(f"run.seeds={n}"), workers=1) for n in (3, 16))
    widths = []
    for outcome in (few, many):
        interval = outcome.metrics.latency["ttft"].interval_mean
        assert interval is not None
        widths.append(interval[1] - interval[0])
    # sqrt(5) and Student's t make 3.8 of it; the width of three runs is itself a guess.
    assert widths[1] < widths[0] / 1.5


def test_runs_are_added_until_the_figure_is_as_precise_as_asked() -> None:
    outcome = run_thoroughly(small("run.precision=0.03", "run.metric=ttft_mean_ms"), workers=1)
    assert outcome.replications is not None
    found = outcome.replications.precision
    assert found is not None
    assert found.met
    assert found.half_width is not None
    assert found.half_width <= 0.03
    summary = outcome.metrics.latency["ttft"]
    assert summary.mean is not None
    assert summary.interval_mean is not None
    half = (summary.interval_mean[1] - summary.interval_mean[0]) / 2
    assert found.half_width == pytest.approx(half / summary.mean)
    assert "ttft_mean_ms within ±3.0%: ±" in (precision_sentence(outcome) or "")


def test_where_the_most_runs_do_not_suffice_it_says_so() -> None:
    scenario = small("run.precision=0.0001", "run.metric=requests_per_s", "run.seeds=9")
    outcome = run_thoroughly(scenario, workers=1)
    said = outcome_document(outcome)["replications"]
    assert said["runs"] == 9
    assert said["precision"]["met"] is False
    assert said["precision"]["reached"] > 0.0001
    assert "not reached" in (precision_sentence(outcome) or "")


def test_no_runs_are_added_to_an_overloaded_deployment() -> None:
    scenario = small("workload.arrivals.requests_per_s=60", "run.precision=0.01")
    outcome = run_thoroughly(scenario, workers=1)
    assert outcome.metrics.status == "overloaded"
    assert outcome.replications is not None
    assert outcome.replications.runs == precision.FIRST_RUNS
    assert "has no interval" in (precision_sentence(outcome) or "")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    rows = [f"{0.3 * place},{300 + place % 7},{40 + place % 5}" for place in range(400)]
    path = tmp_path / "trace.csv"
    path.write_text("\n".join(["arrival_s,input_tokens,output_tokens", *rows]), "utf-8")
    return path


def test_a_trace_cannot_be_replicated_and_its_interval_comes_from_blocks(trace: Path) -> None:
    with pytest.raises(InputError, match="happened once"):
        run_thoroughly(load_scenario("chat-70b-h100", ["run.seeds=4"], trace=trace))
    changes = ["run.precision=0.5", "run.metric=ttft_mean_ms"]
    outcome = run_thoroughly(load_scenario("chat-70b-h100", changes, trace=trace))
    assert outcome.metrics.interval_basis.startswith("90 %, blocks of")
    assert outcome.replications is not None
    assert outcome.replications.runs == 1
    assert outcome.replications.precision is not None


CLASSES = """
name: two
model: llama-3.1-8b
hardware: h100_sxm
workload:
  arrivals: {kind: poisson, requests_per_s: 6}
  classes:
    - name: chat
      share: 0.7
      input_tokens: {kind: fixed, tokens: 400}
      output_tokens: {kind: fixed, tokens: 40}
    - name: batch
      share: 0.3
      input_tokens: {kind: fixed, tokens: 3000}
      output_tokens: {kind: fixed, tokens: 100}
slo:
  ttft_ms: 200
  classes: {batch: {ttlt_ms: 3000, ttft_p50_ms: 500}}
run: {requests: 200}
"""


def test_classes_are_pooled_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(CLASSES, "utf-8")
    together = run_thoroughly(load_scenario(path, ["run.seeds=3"]), workers=1).metrics
    alone = [run(load_scenario(path, [f"run.seed={seed}"])).metrics for seed in range(3)]
    assert [one.name for one in together.classes] == [one.name for one in alone[0].classes]
    for place, pooled in enumerate(together.classes):
        each = [metrics.classes[place] for metrics in alone]
        assert pooled.requests.offered == sum(one.requests.offered for one in each)
        means = [one.latency["ttft"].mean or 0.0 for one in each]
        assert pooled.latency["ttft"].mean == pytest.approx(np.mean(means))
        hits = sum((one.slo.attainment or 0) * one.requests.offered for one in each)
        assert pooled.slo.attainment == pytest.approx(hits / pooled.requests.offered)
    offered = [one.requests.offered for one in together.classes]
    assert sum(offered) == together.requests.offered
    shares = [one.slo.attainment or 0 for one in together.classes]
    assert together.slo.attainment == pytest.approx(np.average(shares, weights=offered))


def test_seeds_beyond_the_last_one_are_refused() -> None:
    with pytest.raises(InputError, match="end beyond"):
        run_thoroughly(small("run.seed=2147483646", "run.seeds=5"), workers=1)


def off_by(monkeypatch: pytest.MonkeyPatch, sigma: float, *changes: str) -> Outcome:
    """Run with a profile that states a held-out error."""
    monkeypatch.setattr(thorough, "log_error", lambda *_: LogError(sigma, "of this test"))
    return run_thoroughly(small(*changes), workers=1)


def test_without_an_error_of_the_calibration_the_reader_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thorough, "log_error", lambda *_: None)
    outcome = run_thoroughly(small())
    assert "states no held-out error" in outcome.not_modelled[0]
    assert outcome_document(outcome)["calibration"] is None
    ttft = outcome_document(outcome)["latency"]["ttft_ms"]
    assert ttft["interval_mean_with_calibration"] is None


def test_both_parts_of_the_interval_are_reported_and_the_whole_holds_the_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = off_by(monkeypatch, 0.1, "run.requests=1200")
    document = outcome_document(outcome)
    for name in ("ttft_ms", "tpot_ms", "ttlt_ms"):
        part = document["latency"][name]["interval_mean"]
        whole = document["latency"][name]["interval_mean_with_calibration"]
        assert whole[0] < part[0] < part[1] < whole[1]
    assert document["calibration"] == {"log_sigma": 0.1, "basis": "of this test"}
    assert "with_calibration" in document["provenance"]["intervals"]["source"]
    assert not any("calibration is not in" in text for text in outcome.not_modelled)
    # Time per token is nearly all machine: -/+ 1.645 x 10 % or somewhat more, batches grow too.
    tpot = outcome.metrics.latency["tpot"]
    assert tpot.mean is not None
    low, high = tpot.widest("mean") or (0, 0)
    assert 0.75 < low / tpot.mean < 0.87
    assert 1.15 < high / tpot.mean < 1.35
    # What is offered gets served, whatever the times: throughput keeps its interval.
    rates = outcome.metrics.throughput
    assert rates.interval_requests_per_s is not None
    assert rates.whole is not None
    assert rates.whole["requests_per_s"] == pytest.approx(rates.interval_requests_per_s, rel=0.02)


def test_the_answer_uses_the_whole_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = answer(run(small("run.requests=2500")))
    wide = answer(off_by(monkeypatch, 0.2, "run.requests=2500"))
    assert narrow.partition(" [")[0] == wide.partition(" [")[0]
    assert narrow != wide


def test_where_longer_times_overload_the_latency_has_no_upper_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes = ("run.requests=2000", "workload.arrivals.requests_per_s=14")
    outcome = off_by(monkeypatch, 0.5, *changes)
    assert outcome.metrics.status == "ok"
    interval = outcome.metrics.latency["ttft"].widest("mean")
    assert interval is not None
    assert interval[1] == inf
    document = outcome_document(outcome)
    whole = document["latency"]["ttft_ms"]["interval_mean_with_calibration"]
    assert whole[1] is None
    assert whole[0] > 0


def test_why_requests_were_refused_is_said_of_all_runs_together() -> None:
    # 20 blocks of 16 tokens hold 320: of these lengths the longer prompts can never run
    changes = ("run.requests=200", "deployment.num_gpu_blocks=20")
    together = run_thoroughly(small("run.seeds=2", *changes), workers=1)
    alone = [run(small(f"run.seed={seed}", *changes)) for seed in (0, 1)]
    # those that warmed up are in no figure
    refused = sum(one.metrics.requests.rejected for one in alone)
    said = [note for note in together.metrics.notes if " rejected: " in note]
    assert len(said) == 1
    assert said[0].startswith(f"{refused} rejected: prompt and answer need more KV")
