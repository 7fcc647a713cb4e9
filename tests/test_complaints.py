"""What is wrong with a file, in words."""

import re
from pathlib import Path
from typing import Any

import pytest

from sim import complaints
from sim.complaints import in_short, read_as_numbers
from sim.errors import InputError
from sim.scenario import Scenario, build_scenario
from sim.yaml_files import parse_scalar


def scenario(**changes: Any) -> Scenario:
    content = {
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "workload": {
            "arrivals": {"kind": "poisson", "requests_per_s": 1},
            "input_tokens": {"kind": "fixed", "tokens": 100},
            "output_tokens": {"kind": "uniform", "low": 1, "high": 9},
        },
    }
    return build_scenario({**content, **changes}, where="a file", folder=Path())


@pytest.mark.parametrize(
    ("changes", "key", "found"),
    [
        ({"deployment": {"replicas": True}}, "deployment.replicas", "True"),
        ({"deployment": {"memory_fraction": "0.9"}}, "deployment.memory_fraction", "'0.9'"),
        ({"run": {"seed": False}}, "run.seed", "False"),
        (
            {
                "decoding": {
                    "name": "speculative",
                    "draft_tokens": 2,
                    "survival": [True, 0.5],
                    "draft": {"work_share": 0.1},
                }
            },
            "decoding.survival.0",
            "True",
        ),
    ],
)
def test_a_truth_value_or_text_is_no_number(changes: Any, key: str, found: str) -> None:
    with pytest.raises(InputError) as refused:
        scenario(**changes)
    assert str(refused.value) == f"a file: `{key}` should be a number, found {found}"


def test_numbers_are_taken_as_they_are() -> None:
    assert scenario(deployment={"replicas": 2, "memory_fraction": 1}).deployment.replicas == 2
    assert read_as_numbers(1.0, 1) == []
    assert read_as_numbers("text", "text") == []


@pytest.mark.parametrize("text", ["0100", "1:00", "-017", "1:30.5", "08"])
def test_numbers_that_yaml_1_1_reads_in_base_8_or_60_stay_text(text: str) -> None:
    assert parse_scalar(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("0", 0), ("-12", -12), ("1_000", 1000), ("0x1F", 31), ("0b11", 3), ("1e3", 1000.0)),
        *(("0.5", 0.5), (".5", 0.5), ("1.", 1.0), ("1.5e-3", 0.0015), ("-.inf", -float("inf"))),
    ],
)
def test_numbers_of_yaml_are_numbers(text: str, value: float) -> None:
    found = parse_scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_a_file_of_another_kind_gets_five_problems_and_the_number_of_the_rest() -> None:
    with pytest.raises(InputError) as refused:
        scenario(**{f"odd{number}": 1 for number in range(9)})
    problem = refused.value.problem
    assert problem.count("is not a key here") == 5
    assert problem.endswith("; and 4 more")
    assert in_short(["one"]) == "one"


@pytest.mark.parametrize("key", ["name", "model", "hardware", "engine"])
def test_names_are_one_line_and_not_empty(key: str) -> None:
    with pytest.raises(InputError, match=f"`{key}` is empty"):
        scenario(**{key: " "})
    with pytest.raises(InputError, match=f"`{key}` should be one line"):
        scenario(**{key: "a\nb"})


def test_pydantic_s_own_subjects_are_left_out() -> None:
    with pytest.raises(InputError, match="`name` should be a valid string, found 3"):
        scenario(name=3)
    with pytest.raises(InputError, match="`model` should be"):
        scenario(model=3)


def test_every_pattern_of_a_field_is_told_in_words() -> None:
    folder = Path(complaints.__file__).parent
    asked = {
        pattern
        for path in folder.rglob("*.py")
        for pattern in re.findall(r"pattern=r\"([^\"]+)\"", path.read_text("utf-8"))
    }
    assert len(asked) >= 4
    assert asked <= complaints.PATTERNS.keys()


def test_a_list_is_not_called_empty_where_its_entries_are_wrong() -> None:
    lengths = {"kind": "fixed", "tokens": 9}
    wrong = {"name": "no name!!", "input_tokens": lengths, "output_tokens": lengths}
    workload = {"arrivals": {"kind": "poisson", "requests_per_s": 1}, "classes": [wrong]}
    with pytest.raises(InputError, match=r"workload\.classes\.0\.name") as caught:
        scenario(workload=workload)
    assert "at least 1 item" not in str(caught.value)
    with pytest.raises(InputError, match="should have at least 1 item"):
        scenario(workload={**workload, "classes": []})
