"""Windows of steady gamma arrivals: each keeps its own rate and its own spread."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.errors import InputError
from sim.workload import Windows, Workload, stream
from sim.workload.renewal import unit_times_within
from sim.workload.windows import read_windows
from sim.yaml_files import validate

LENGTHS: dict[str, Any] = {
    "input_tokens": {"kind": "fixed", "tokens": 10},
    "output_tokens": {"kind": "fixed", "tokens": 10},
}
HEADER = "for_s,requests_per_s,cv\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "windows.csv"
    path.write_text(text)
    return path


@pytest.mark.truth
@pytest.mark.parametrize("cv", [0.0, 0.3, 1.0, 3.0])
def test_a_window_has_its_mean_rate_from_the_start_whatever_its_spread(cv: float) -> None:
    """A window that began with a whole gap would have (cv^2 - 1) / 2 arrivals too many or few."""
    draws = stream(0, "windows")
    counts = np.array([len(unit_times_within(5.5, cv, draws)) for _ in range(6_000)])
    standard_error = counts.std() / np.sqrt(len(counts))
    assert abs(counts.mean() - 5.5) < 4 * standard_error
    assert standard_error < 0.1


@pytest.mark.truth
def test_each_window_has_its_rate_and_its_spread() -> None:
    windows = Windows.model_validate(
        {
            "windows": [
                {"for_s": 600, "requests_per_s": 20, "cv": 2.5},
                {"for_s": 300, "requests_per_s": 0},
                {"for_s": 600, "requests_per_s": 5, "cv": 0.5},
            ],
            "repeat": True,
        }
    )
    times = windows.times_s(300_000, stream(3, "arrivals"))
    rounds = int(times[-1] // 1_500)
    whole = times[times < rounds * 1_500]
    window = np.digitize(whole % 1_500, [600, 900])
    assert not (window == 1).any()
    for place, rate, cv in ((0, 20, 2.5), (2, 5, 0.5)):
        mine = whole[window == place]
        mean = rounds * 600 * rate
        assert abs(len(mine) - mean) < 4 * cv * np.sqrt(mean)
        gaps = np.diff(mine)
        gaps = gaps[gaps < 300]  # not those from one round to the next
        error = cv * cv * np.sqrt((6 * cv * cv + 2) / len(gaps))
        # the gap that the window's end cuts off is missing: of about 1 in 100 at most
        assert abs((gaps * rate).var() - cv * cv) < 4 * error + 0.02 * cv * cv
    assert windows.mean_requests_per_s == pytest.approx(10.0)


def test_the_last_window_goes_on_and_the_first_rows_are_always_the_same() -> None:
    windows = Windows.model_validate(
        {"windows": [{"for_s": 10, "requests_per_s": 1}, {"for_s": 10, "requests_per_s": 4}]}
    )
    few, many = (windows.times_s(count, stream(0, "arrivals")) for count in (100, 3_000))
    np.testing.assert_array_equal(few, many[:100])
    assert 3_000 / many[-1] == pytest.approx(4, rel=0.1)
    assert np.all(np.diff(many) >= 0)


def test_windows_are_read_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    written(tmp_path, HEADER + "60,2,1.5\n30,0,1\n30,8,\n")
    arrivals = {"kind": "windows", "path": "windows.csv"}
    workload = validate(Workload, {"arrivals": arrivals, **LENGTHS}, "here")
    found = workload.relative_to(tmp_path)
    assert found.offered_requests_per_s == pytest.approx((60 * 2 + 30 * 8) / 120)
    assert [window.cv for window in read_windows(tmp_path / "windows.csv")] == [1.5, 1.0, 1.0]
    faster = found.with_rate(6.0)
    assert faster.offered_requests_per_s == pytest.approx(6.0)
    assert len(faster.draw(50, 0)) == 100
    assert "3 windows" in found.describe()


def test_a_last_window_without_a_rate_ends_the_traffic() -> None:
    arrivals = {
        "kind": "windows",
        "windows": [
            {"for_s": 10, "requests_per_s": 10, "cv": 0},
            {"for_s": 5, "requests_per_s": 0},
        ],
    }
    workload = validate(Workload, {"arrivals": arrivals, **LENGTHS}, "here")
    assert len(workload.draw(90, 0)) == 100
    with pytest.raises(InputError, match="only 100 of 120 requests arrive"):
        workload.draw(120, 0)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "needs either `windows` or `path`"),
        ({"windows": []}, "at least 1 item"),
        ({"windows": [{"for_s": 5, "requests_per_s": 0}]}, "has no rate above 0"),
        ({"windows": [{"for_s": 5, "requests_per_s": 1, "cv": -1}]}, "cv` should be greater"),
        ({"windows": [{"for_s": 5, "requests_per_s": 1}], "path": "w.csv"}, "needs either"),
    ],
)
def test_wrong_windows_are_refused_in_one_sentence(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(Workload, {"arrivals": {"kind": "windows", **given}, **LENGTHS}, "here")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "lacks the column for_s, requests_per_s"),
        (HEADER, "the file has no windows"),
        ("for_s,rate\n1,2\n", "lacks the column requests_per_s"),
        (HEADER + "1,x,1\n", "line 2: requests_per_s"),
        (HEADER + "60,1,1\n-1,2,1\n", "line 3: for_s"),
        (HEADER + "60,,1\n", "line 2: requests_per_s: Field required"),
        (HEADER + "60,0,1\n", "has no rate above 0"),
        (HEADER + "60,1,1,4\n", "line 2 has not as many fields as the header"),
        (HEADER + "60,1\n", "line 2 has not as many fields as the header"),
    ],
)
def test_a_fault_of_the_file_is_one_sentence_with_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_windows(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the windows"):
        read_windows(tmp_path / "none.csv")
    with pytest.raises(InputError, match="the windows are not text"):
        read_windows(tmp_path)
