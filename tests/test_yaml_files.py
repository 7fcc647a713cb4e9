"""Every wrong file becomes one sentence with file and key."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from sim.errors import InputError
from sim.yaml_files import find, list_names, read_json, read_yaml, validate


class _Fixed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["fixed"]
    tokens: Annotated[int, Field(gt=0)]


class _Uniform(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["uniform"]
    low: int
    high: int


class _Plan(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tensor_parallel: int
    length: Annotated[_Fixed | _Uniform, Field(discriminator="kind")] | None = None
    by_name: dict[str, _Fixed] = {}
    many: list[_Fixed] = []


def _sentence(**content: object) -> str:
    with pytest.raises(InputError) as caught:
        validate(_Plan, content, "plan.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        ("- 1\n- 2\n", "found a list"),
        ("arrival,tokens\n1,2\n", "found a single value"),
        ("a: [1,", "not valid YAML"),
        ("a: b: c", "(line 1, column 5)"),
        ("a: 1\na: 2\n", "the key `a` is given twice (line 2, column 1)"),
        ("b: {x: 1, x: 2}", "the key `x` is given twice"),
        ("1: 2", "the key `1` is not text; quote it"),
        ("? [1, 2]\n: 3\n", "not valid YAML"),
        ("a: !!python/object:os.system x", "not valid YAML"),
        ("a: \x00", "not valid YAML"),
        ("a: 0b_", "not valid YAML"),
    ],
)
def test_a_file_that_is_not_a_yaml_mapping_is_refused(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_yaml(path)
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_directory_a_missing_file_and_a_binary_file_are_refused(tmp_path: Path) -> None:
    binary = tmp_path / "table.parquet"
    binary.write_bytes(b"PAR1\xff\xfe\x80")
    with pytest.raises(InputError, match="directory"):
        read_yaml(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_yaml(tmp_path / "absent.yaml")
    with pytest.raises(InputError, match="not a text file"):
        read_yaml(binary)


def test_dates_stay_text_and_exponents_without_a_dot_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("day: 2024-05-01\nbig: 1e9\nsmall: -2.5E-3\n")
    assert read_yaml(path) == {"day": "2024-05-01", "big": 1e9, "small": -0.0025}


def test_a_windows_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: x\r\n")
    assert read_yaml(path) == {"name": "x"}


def test_json_that_is_cut_off_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"layers": 3,')
    with pytest.raises(InputError, match=r"not valid JSON: .*line 1"):
        read_json(path)


def test_a_misspelt_key_is_named_once_with_the_nearest_known_key() -> None:
    assert _sentence(tensor_paralel=2) == (
        "plan.yaml: `tensor_paralel` is not a key here; did you mean `tensor_parallel`?"
    )


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ({"length": {"kind": "fixed", "token": 3}}, "length.token"),
        ({"by_name": {"fast": {"kind": "fixed", "token": 3}}}, "by_name.fast.token"),
        ({"many": [{"kind": "fixed", "token": 3}]}, "many.0.token"),
    ],
)
def test_the_nearest_key_is_found_inside_unions_mappings_and_lists(
    content: dict[str, object], key: str
) -> None:
    sentence = _sentence(tensor_parallel=1, **content)
    assert sentence == f"plan.yaml: `{key}` is not a key here; did you mean `tokens`?"


def test_all_problems_are_told_at_once_with_what_was_found() -> None:
    sentence = _sentence(tensor_parallel="two", length={"kind": "uniform", "low": 1}, zzz=1)
    assert "`tensor_parallel` should be a valid integer, found 'two'" in sentence
    assert "`length.high` is missing" in sentence
    assert "`zzz` is not a key here" in sentence
    assert "pydantic" not in sentence


def test_an_unknown_kind_is_refused_with_the_kinds_that_exist() -> None:
    assert "'fixed', 'uniform', found 'fixd'" in _sentence(
        tensor_parallel=1, length={"kind": "fixd"}
    )
    assert "`length` needs the key `kind`" in _sentence(tensor_parallel=1, length={})


def test_a_name_of_the_catalog_comes_before_a_path(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("a: 1")
    own = tmp_path / "sub.yaml"
    own.write_text("a: 2")
    assert list_names(tmp_path) == ("one", "sub")
    assert find("thing", "one", tmp_path) == tmp_path / "one.yaml"
    assert find("thing", str(own), tmp_path) == own
    with pytest.raises(InputError, match="did you mean one"):
        find("thing", "On", tmp_path)


def test_anchors_that_stand_for_billions_of_items_are_refused_at_once(tmp_path: Path) -> None:
    names = "abcdefghijklmnop"
    lines = ["odd:", "  a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [
        f"  {name}: &{name} [{', '.join([f'*{inner}'] * 9)}]" for inner, name in pairwise(names)
    ]
    path = tmp_path / "plan.yaml"
    path.write_text("\n".join([*lines, "tensor_parallel: *p"]), "utf-8")
    started_s = time.perf_counter()
    with pytest.raises(InputError, match="`tensor_parallel` should be a valid integer"):
        validate(_Plan, read_yaml(path), "plan.yaml")
    assert time.perf_counter() - started_s < 2
