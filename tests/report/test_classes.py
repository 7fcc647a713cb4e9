"""What a reader sees of request classes: the table, the sentence, the JSON and the rows."""

import io
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sim.errors import InputError
from sim.report.answer import answer
from sim.report.classes import class_table
from sim.report.document import outcome_document
from sim.report.markdown import outcome_markdown
from sim.report.requests import requests_parquet
from sim.run import Outcome, run
from sim.scenario import build_scenario

CLASSES = [
    {"name": "chat", "share": 0.8},
    {"name": "batch", "share": 0.2, "output_tokens": {"kind": "fixed", "tokens": 100}},
]
BASE: dict[str, Any] = {
    "name": "tale",
    "model": "llama-3.1-8b",
    "hardware": "h100_sxm",
    "workload": {
        "arrivals": {"kind": "constant", "requests_per_s": 5},
        "input_tokens": {"kind": "fixed", "tokens": 100},
        "output_tokens": {"kind": "fixed", "tokens": 10},
        "classes": CLASSES,
    },
    "run": {"requests": 300},
}


def outcome(**changes: Any) -> Outcome:
    return run(build_scenario({**BASE, **changes}, where="test", folder=Path()))


@cache
def with_targets() -> Outcome:
    """Chat within any time, batch within a time that no answer of 100 tokens keeps."""
    return outcome(
        slo={"ttlt_ms": 60_000, "classes": {"batch": {"ttlt_ms": 1, "attainment": 0.9}}}
    )


def test_the_table_has_a_row_for_each_class_with_its_verdict() -> None:
    table = class_table(with_targets())
    rows = {row[0]: row for row in table.rows}
    assert list(rows) == ["chat", "batch"]
    assert rows["chat"][-1] == "met"
    assert rows["batch"][-1] == "missed"
    assert rows["batch"][5:7] == ("0%", "90.0%")
    offered = sum(int(row[1].replace(",", "")) for row in table.rows)
    assert offered == with_targets().metrics.requests.offered


def test_the_sentence_names_the_class_that_misses_its_targets() -> None:
    text = answer(with_targets())
    assert "class batch has 0% inside its targets, 90.0% asked" in text
    assert "class chat" not in text


def test_the_report_says_that_targets_go_by_class() -> None:
    text = outcome_markdown(with_targets())
    assert "| TTLT of a request | by class |" in text
    assert "## Classes" in text


def test_the_document_has_an_object_for_each_class() -> None:
    document = outcome_document(with_targets())
    names = [one["name"] for one in document["classes"]]
    assert names == ["chat", "batch"]
    batch = document["classes"][1]
    assert batch["slo"]["attainment"] == 0.0
    assert batch["requests"]["offered"] == batch["requests"]["finished"] > 0
    goodput = sum(one["slo"]["goodput_requests_per_s"] for one in document["classes"])
    assert goodput == pytest.approx(document["slo"]["goodput_requests_per_s"])


def test_every_row_of_the_requests_names_its_class() -> None:
    table = pq.read_table(io.BytesIO(requests_parquet(with_targets()))).to_pydict()
    by_class = {"chat": 10, "batch": 100}
    assert set(table["class"]) == set(by_class)
    assert table["output_tokens"] == [by_class[name] for name in table["class"]]


def test_without_classes_there_is_no_table_and_every_row_is_of_the_default() -> None:
    plain = outcome(workload={**BASE["workload"], "classes": None})
    assert not class_table(plain).rows
    assert "## Classes" not in outcome_markdown(plain)
    table = pq.read_table(io.BytesIO(requests_parquet(plain))).to_pydict()
    assert set(table["class"]) == {"default"}


def test_targets_of_a_class_that_a_trace_lacks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    rows = "".join(f"{row},10,20,{'ab'[row % 2]}\n" for row in range(20))
    path.write_text(f"arrival_s,input_tokens,output_tokens,class\n{rows}")
    trace = {"arrivals": {"kind": "trace", "path": str(path)}}
    seen = outcome(workload=trace, slo={"ttft_ms": 900, "classes": {"b": {"ttlt_ms": 9000}}})
    assert [one.name for one in seen.metrics.classes] == ["a", "b"]
    with pytest.raises(
        InputError, match=r"targets for c, but the classes of the traffic are a, b"
    ):
        outcome(workload=trace, slo={"classes": {"c": {}}})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"slo": {"classes": {"bach": {"ttlt_ms": 1}}}}, "targets for bach, which the workload"),
        (
            {"workload": {**BASE["workload"], "classes": None}, "slo": {"classes": {"a": {}}}},
            "it has no `classes`",
        ),
        ({"slo": {"classes": {"chat": {"ttlt": 1}}}}, "`slo.classes.chat.ttlt` is not a key here"),
        (
            {"slo": {"classes": {"chat": {"classes": {}}}}},
            "`slo.classes.chat.classes` is not a key here",
        ),
    ],
)
def test_targets_of_a_class_that_does_not_go_are_refused(
    changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        build_scenario({**BASE, **changes}, where="test", folder=Path())
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_where_every_class_starves_the_sentence_says_overloaded_and_no_more() -> None:
    asked = {"arrivals": {"kind": "constant", "requests_per_s": 2000}}
    seen = outcome(workload={**BASE["workload"], **asked}, run={"requests": 3000})
    assert all(one.starves for one in seen.metrics.classes)
    assert answer(seen).startswith("Overloaded: ")
    assert "class" not in answer(seen)
