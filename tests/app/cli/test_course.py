"""Seeds, precision, timeline and trace events on the command line."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.app.cli.conftest import Command


def test_seeds_and_precision_stand_in_the_answer_and_in_the_scenario(paretoken: Command) -> None:
    answered = paretoken("run", "small.yaml", "--seeds", "3", "--json")
    assert answered.code == 0, answered.err
    document = json.loads(answered.out)
    assert document["replications"] == {
        "runs": 3,
        "first_seed": 0,
        "precision": None,
        "complete": True,
    }
    assert document["scenario"]["run"]["seeds"] == 3
    assert "3 runs" in document["interval_basis"]


@pytest.mark.parametrize("share", ["20%", "0.2"])
def test_a_precision_is_a_percentage_or_a_share(paretoken: Command, share: str) -> None:
    answered = paretoken(
        "run", "small.yaml", "--precision", share, "--metric", "ttft_mean_ms", "--json",
        "--set", "run.requests=200",
    )  # fmt: skip
    precision = json.loads(answered.out)["replications"]["precision"]
    assert precision["metric"] == "ttft_mean_ms"
    assert precision["asked"] == 0.2
    assert precision["met"] is (precision["reached"] <= 0.2)


def test_the_page_says_whether_the_precision_was_reached(paretoken: Command) -> None:
    answered = paretoken(
        "run", "small.yaml", "--precision", "0.01%", "--metric", "requests_per_s", "--seeds", "2",
        "--set", "run.requests=200",
    )  # fmt: skip
    assert "not reached" in answered.out
    assert "2 runs" in answered.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--precision", "two"], "--precision"),
        (["--precision", "150%"], "between 0 and 100%"),
        (["--metric", "ttft_p99_ms"], "add --precision"),
        (["--precision", "2%", "--metric", "speed"], "run.metric"),
        (["--seeds", "0"], "--seeds"),
        (["--timeline", "t.xlsx"], ".parquet or .csv"),
        (["--timeline", "t.csv", "--timeline-bin", "0"], "--timeline-bin"),
        (["--timeline", "t.csv", "--timeline-bin", "0.0000001"], "rows"),
        (["--trace-events", "small.yaml/x.json"], "small.yaml"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    paretoken: Command, arguments: list[str], said: str
) -> None:
    answered = paretoken("run", "small.yaml", *arguments)
    assert answered.code == 2
    assert said in answered.err
    assert answered.err.count("\n") == 1


def test_timeline_and_trace_events_are_written_where_named(
    paretoken: Command, tmp_path: Path
) -> None:
    answered = paretoken(
        "run", "small.yaml", "--timeline", "t.csv", "--timeline-bin", "5",
        "--trace-events", "sub/trace.json",
    )  # fmt: skip
    assert answered.code == 0, answered.err
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["time_s"]) for row in rows[:3]] == [0, 5, 10]
    events = json.loads((tmp_path / "sub" / "trace.json").read_text())["traceEvents"]
    assert len(events) > 1000
    paretoken("run", "small.yaml", "--timeline", "t.parquet", "--timeline-bin", "5")
    assert pq.read_table(tmp_path / "t.parquet").num_rows == len(rows)


def test_what_was_written_runs_again_with_the_same_seeds(
    paretoken: Command, tmp_path: Path
) -> None:
    paretoken("run", "small.yaml", "--seeds", "2", "--out", "one", "--set", "run.requests=200")
    paretoken("run", "one/scenario.yaml", "--out", "two")
    one, two = ((tmp_path / name / "outcome.json").read_bytes() for name in ("one", "two"))
    assert one == two


def test_bins_without_a_timeline_are_refused(paretoken: Command) -> None:
    answered = paretoken("run", "small.yaml", "--timeline-bin", "5")
    assert answered.code == 2
    assert "add --timeline FILE" in answered.err


def test_a_timeline_makes_the_folder_that_it_goes_into(paretoken: Command, tmp_path: Path) -> None:
    answered = paretoken(
        "run", "small.yaml", "--timeline", "new/deep/t.csv", "--set", "run.requests=100"
    )
    assert answered.code == 0, answered.err
    assert (tmp_path / "new" / "deep" / "t.csv").exists()


def test_help_says_how_many_runs_a_precision_takes(paretoken: Command) -> None:
    said = " ".join(paretoken("run", "--help").out.split())
    assert "8 at least, 100 (or --seeds) at most" in said
