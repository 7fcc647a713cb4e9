from pathlib import Path

import pytest

from sim.errors import InputError
from sim.planning.cold import ColdReport, cold_start
from sim.report.cold_start import cold_answer, cold_document, phase_table, user_table
from sim.report.document import to_json
from sim.scenario import load_scenario

FIXED = [
    "run.requests=400",
    "cold_start.provision_s=10",
    "cold_start.image_gb=0",
    "cold_start.loader=page_cache",
    "cold_start.loader_gb_per_s=10",
    "cold_start.engine_init_s=0",
    "cold_start.compile_s=0",
    "cold_start.graph_capture_s=5",
    "cold_start.warm_up_s=0",
]


def started(*changes: str, name: str = "claims-8b-h100") -> ColdReport:
    return cold_start(load_scenario(name, [*FIXED, *changes]))


def test_a_start_whose_phases_are_given_takes_their_sum() -> None:
    report = started()
    # 8.03 billion parameters in 16 bits at 10 GB/s, ten seconds before and five after.
    assert report.ready.seconds == pytest.approx(15 + 1.606, abs=0.01)
    assert report.ready.low_s == report.ready.seconds == report.ready.high_s
    assert report.first_ttft_s == pytest.approx(report.ready.seconds + report.lone_ttft_s)


def test_weights_of_all_gpus_of_a_replica_are_read() -> None:
    one = started("model=llama-3.1-70b", "hardware=h200_sxm", "deployment.weights=fp8")
    both = started(
        "model=llama-3.1-70b", "hardware=h200_sxm", "deployment.weights=fp8",
        "deployment.tensor_parallel=2",
    )  # fmt: skip
    assert one.weight_bytes == pytest.approx(72.7e9, rel=0.02)  # with the embeddings in 16 bits
    assert both.weight_bytes == pytest.approx(one.weight_bytes, rel=0.01)


def test_who_comes_during_the_start_waits_for_it_and_the_backlog_is_worked_off() -> None:
    report = started("workload.arrivals.requests_per_s=5")
    backlog = report.backlog
    assert backlog is not None
    expected = 5 * report.ready.seconds
    assert backlog.waiting == pytest.approx(expected, abs=4 * expected**0.5)
    assert backlog.ttft.mean is not None
    # They come evenly over the start, so they wait half of it at least.
    assert backlog.ttft.mean > report.ready.seconds / 2 * 0.8
    assert backlog.settled_s is not None
    assert backlog.settled_s > 0
    assert report.warm_ttft.mean is not None
    assert report.warm_ttft.mean < 1


def test_a_start_that_takes_no_time_leaves_no_backlog() -> None:
    report = started(
        "cold_start.provision_s=0", "cold_start.graph_capture_s=0",
        "cold_start.loader_gb_per_s=10000",
    )  # fmt: skip
    assert report.ready.seconds < 0.01
    assert report.backlog is not None
    assert report.backlog.waiting == 0


def test_users_of_a_closed_loop_send_nothing_before_it_is_ready() -> None:
    report = started(name="qwen3-32b-h200-closed-loop")
    assert report.backlog is None
    assert cold_document(report)["backlog"] is None
    assert not any("during the start" in row[0] for row in user_table(report).rows)


def test_the_report_says_the_same_in_words_tables_and_json() -> None:
    report = started("workload.arrivals.requests_per_s=5")
    document = cold_document(report)
    assert document["answer"] == cold_answer(report)
    assert "ready 16.6 s after" in cold_answer(report)
    assert sum(phase["seconds"] for phase in document["phases"]) == document["ready_s"]
    assert phase_table(report).rows[-1][0] == "ready"
    assert to_json(document)


def test_mistakes_in_the_key_are_named() -> None:
    for change, match in {
        "cold_start.loader=ftp": "loader",
        "cold_start.provision_s=-1": "provision_s",
        "cold_start.storage_gb_per_s=0": "storage_gb_per_s",
        "cold_start.no_such_key=1": "no_such_key",
    }.items():
        with pytest.raises(InputError, match=match):
            load_scenario("claims-8b-h100", [change])


def test_assumptions_of_your_own_are_found_beside_the_scenario(tmp_path: Path) -> None:
    import hardware_profiles

    shipped = Path(hardware_profiles.__file__).parent / "cold_start" / "generic.yaml"
    text = shipped.read_text("utf-8").replace("name: generic", "name: mine")
    (tmp_path / "mine.yaml").write_text(text.replace("value: 60\n", "value: 90\n"), "utf-8")
    scenario = (load_scenario.__globals__["SCENARIOS"] / "claims-8b-h100.yaml").read_text("utf-8")
    path = tmp_path / "s.yaml"
    path.write_text(scenario + "cold_start: {assumptions: mine.yaml}\n", "utf-8")
    report = cold_start(load_scenario(path, ["run.requests=50"]))
    assert report.phases[0].seconds == 90
