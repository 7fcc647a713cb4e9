"""Request classes: shares, lengths, priorities and prefixes of their own."""

from typing import Any

import numpy as np
import pytest

from sim.errors import InputError
from sim.workload import Workload
from sim.yaml_files import validate

POISSON = {"kind": "poisson", "requests_per_s": 8}
CHAT = {"name": "chat", "share": 0.7, "output_tokens": {"kind": "fixed", "tokens": 50}}
BATCH = {"name": "batch", "share": 0.25, "priority": 5}
CODE = {
    "name": "code",
    "share": 0.05,
    "priority": -1,
    "input_tokens": {"kind": "uniform", "low": 10, "high": 20},
    "output_tokens": {"kind": "fixed", "tokens": 3},
    "shared_prefix_tokens": 100,
}
LENGTHS: dict[str, Any] = {
    "input_tokens": {"kind": "uniform", "low": 1_000, "high": 2_000},
    "output_tokens": {"kind": "uniform", "low": 400, "high": 500},
}


def a_workload(*classes: dict[str, Any], **changes: Any) -> Workload:
    given = {"arrivals": POISSON, **LENGTHS, "classes": list(classes), **changes}
    return validate(Workload, given, "scenario.yaml")


def test_every_class_has_its_share_within_chance() -> None:
    traffic = a_workload(CHAT, BATCH, CODE).draw(50_000, seed=0)
    counts = np.bincount(traffic.request_class, minlength=3)
    shares = np.array([0.7, 0.25, 0.05])
    errors = np.sqrt(shares * (1 - shares) / len(traffic))
    assert np.all(np.abs(counts / len(traffic) - shares) < 4 * errors)
    assert traffic.class_names == ("chat", "batch", "code")


def test_a_class_has_its_own_lengths_or_those_of_the_workload() -> None:
    traffic = a_workload(CHAT, BATCH, CODE).draw(5_000, seed=0)
    chat, batch, code = (traffic.request_class == place for place in range(3))
    assert set(traffic.output_tokens[chat]) == {50}
    assert traffic.input_tokens[chat].min() >= 1_000
    assert traffic.output_tokens[batch].min() >= 400
    assert set(traffic.output_tokens[code]) == {3}
    assert (traffic.input_tokens[code].min(), traffic.input_tokens[code].max()) == (110, 120)
    assert set(traffic.priority[chat]) == {0}
    assert set(traffic.priority[batch]) == {5}
    assert set(traffic.priority[code]) == {-1}


def test_another_length_of_one_class_moves_nothing_else() -> None:
    longer = {**CHAT, "output_tokens": {"kind": "fixed", "tokens": 99}}
    one, other = (a_workload(first, BATCH, CODE).draw(1_000, 3) for first in (CHAT, longer))
    np.testing.assert_array_equal(one.arrival_s, other.arrival_s)
    np.testing.assert_array_equal(one.request_class, other.request_class)
    np.testing.assert_array_equal(one.input_tokens, other.input_tokens)
    chat = one.request_class == 0
    np.testing.assert_array_equal(one.output_tokens[~chat], other.output_tokens[~chat])


def test_classes_move_no_length_of_a_workload_that_had_none() -> None:
    plain = validate(Workload, {"arrivals": POISSON, **LENGTHS}, "here").draw(500, 0)
    split = a_workload({"name": "a", "share": 0.5}, {"name": "b", "share": 0.5}).draw(500, 0)
    np.testing.assert_array_equal(plain.input_tokens, split.input_tokens)
    np.testing.assert_array_equal(plain.output_tokens, split.output_tokens)
    assert plain.class_names == ("default",)
    assert not plain.request_class.any()
    assert not plain.priority.any()


def test_the_first_classes_do_not_depend_on_how_many_follow() -> None:
    workload = a_workload(CHAT, BATCH, CODE)
    few, many = workload.draw(100, 1), workload.draw(1_000, 1)
    np.testing.assert_array_equal(few.request_class, many.request_class[: len(few)])
    np.testing.assert_array_equal(few.input_tokens, many.input_tokens[: len(few)])


def test_means_weigh_the_classes_and_count_the_shared_prefix() -> None:
    inputs, outputs = a_workload(CHAT, BATCH, CODE).mean_tokens()
    assert inputs == pytest.approx(0.95 * 1_500 + 0.05 * (15 + 100))
    assert outputs == pytest.approx(0.7 * 50 + 0.25 * 450 + 0.05 * 3)


def test_a_workload_whose_classes_all_have_lengths_needs_none_of_its_own() -> None:
    own = {**CODE, "share": 1.0}
    given = {"arrivals": POISSON, "classes": [own]}
    workload = validate(Workload, given, "here")
    assert set(workload.draw(10, 0).output_tokens) == {3}
    assert Workload.model_validate(workload.model_dump(mode="json")) == workload
    assert "1 code: input 10 to 20 tokens" in workload.describe()


def test_classes_share_a_closed_loop() -> None:
    loop = {"kind": "closed_loop", "users": 4}
    traffic = a_workload(CHAT, BATCH, CODE, arrivals=loop).draw(2_000, 0)
    assert len(set(traffic.request_class)) == 3


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"classes": [{**CHAT, "share": -0.5}, BATCH]}, "`classes.0.share` should be greater"),
        ({"classes": [CHAT, BATCH]}, "that add up to 1, found 0.7 + 0.25 = 0.95"),
        ({"classes": [{**CHAT, "share": 0.5}, {**CHAT, "share": 0.5}]}, "two classes named chat"),
        ({"classes": []}, "at least 1 item"),
        ({"classes": [{"share": 1.0}]}, "`classes.0.name` is missing"),
        (
            {"classes": [{"name": "a b", "share": 1.0}]},
            "`classes.0.name` should be a name of letters",
        ),
        (
            {"classes": [{"name": "a", "share": 1}], "input_tokens": None},
            "needs `input_tokens` for the class a",
        ),
        ({"classes": [{**CHAT, "slo": {"ttft_ms": 3}}]}, "`classes.0.slo` is not a key here"),
        ({"input_tokens": None}, "needs `input_tokens`"),
        (
            {"classes": [{**CODE, "share": 1, "input_tokens": {"kind": "trace"}}]},
            "`classes.0.input_tokens` should be one of",
        ),
        (
            {"arrivals": {"kind": "trace", "path": "t.csv"}, "classes": [{**CODE, "share": 1}]}
            | dict.fromkeys(LENGTHS),
            "takes its lengths from the trace: remove `classes`",
        ),
    ],
)
def test_wrong_classes_are_refused_in_one_sentence(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(Workload, {"arrivals": POISSON, **LENGTHS, **changes}, "scenario.yaml")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
