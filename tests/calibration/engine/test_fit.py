"""Knobs of an engine from runs whose truth is known: a made-up server that obeys a formula."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.engine import fit as fitting
from calibration.engine import linear
from calibration.engine.fit import fit_engine, spread_rows
from calibration.engine.knobs import KNOBS
from calibration.engine.minimise import minimise
from calibration.engine.preset import Preset
from calibration.engine.solve import Solution
from calibration.validate.runs import MeasuredRun
from sim.errors import InputError

TRUTH = {"host_us_per_pass": 2_000.0, "host_us_per_sequence": 20.0, "ttft_offset_ms": 12.0}
DOCUMENT: dict[str, Any] = {
    "name": "vllm",
    "origin": "calibrated",
    "source": "the test",
    "as_of": "2026-11-30",
    "settings": {
        "memory_reserve_gb": 1.5,
        "host_us_per_pass": 0,
        "host_us_per_sequence": 0,
        "ttft_offset_ms": {"value": 5, "origin": "calibrated", "source": "the test"},
        "small_kernels_us_per_layer": {"value": 9, "origin": "assumed", "source": "the test"},
        "tokenise_us_per_token": 0,
        "host_us_per_prompt": {"value": 0, "origin": "documented", "source": "the test"},
    },
}


def server_ms(run: MeasuredRun, values: Mapping[str, float]) -> tuple[float, float]:
    """TPOT = work of the GPU + host per pass and per sequence; TTFT = prefill + pass + offset."""
    width = {"small": 4.0, "large": 14.0}[run.model] / run.tensor_parallel
    host = values["host_us_per_pass"] + run.concurrency * values["host_us_per_sequence"]
    tpot = width + 0.01 * run.concurrency + host / 1e3
    return tpot, 30 * width + tpot + values["ttft_offset_ms"]


def runs(truth: Mapping[str, float], noise: float = 0.0) -> list[MeasuredRun]:
    draws = np.random.default_rng(0).normal(0, noise, (100, 2))
    made: list[MeasuredRun] = []
    for model in ("small", "large"):
        for gpu in ("h100_sxm", "h200_sxm"):
            for users in (1, 8, 64, 256):
                run = MeasuredRun(
                    f"{model} {gpu} {users}", model, gpu, "vllm", "fp8", 1, 1, 1, users, 1024,
                    1024, 1.0, 1.0, suspect=False,
                )  # fmt: skip
                tpot, ttft = server_ms(run, truth) * np.exp(draws[len(made)])
                made.append(_measured(run, ttft, tpot))
    return made


def _measured(run: MeasuredRun, ttft_ms: float, tpot_ms: float) -> MeasuredRun:
    from dataclasses import replace

    return replace(run, ttft_ms=float(ttft_ms), tpot_ms=float(tpot_ms))


@pytest.fixture
def fit(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[MeasuredRun]], fitting.EngineFit]:
    """Fit the made-up server on some runs."""

    def times_at(
        preset: Preset,
        values: Mapping[str, float],
        rows: Sequence[MeasuredRun],
        *_: Any,
        **__: Any,
    ) -> Any:
        return np.array([server_ms(run, dict.fromkeys(TRUTH, 0.0) | dict(values)) for run in rows])

    monkeypatch.setattr(linear, "times_at", times_at)
    monkeypatch.setattr(fitting, "times_at", times_at)
    monkeypatch.setattr(fitting, "read_preset", lambda name: Preset(name, DOCUMENT))

    def of(rows: list[MeasuredRun]) -> fitting.EngineFit:
        monkeypatch.setattr(fitting, "read_runs", lambda _path: rows)
        return fit_engine(Path("runs.csv"), "vllm")

    return of


def fitted(fit: fitting.EngineFit) -> dict[str, float]:
    keys = [knob.key for knob in fit.line.knobs]
    return dict(zip(keys, fit.solution.values.tolist(), strict=True))


def test_the_truth_is_found_from_exact_runs(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    found = fit(runs(TRUTH))
    values = fitted(found)
    for key, true in TRUTH.items():
        assert values[key] == pytest.approx(true, rel=0.05)
    assert found.after.tpot.p90_ape is not None
    assert found.after.tpot.p90_ape < 0.01
    assert found.before.tpot.median_ape > 0.1  # type: ignore[operator]


def test_the_truth_lies_within_three_standard_errors_of_noisy_runs(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    found = fit(runs(TRUTH, noise=0.04))
    keys = [knob.key for knob in found.line.knobs]
    for key, true in TRUTH.items():
        place = keys.index(key)
        error = found.solution.standard_errors[place]
        assert abs(found.solution.values[place] - true) < 3 * error
        assert error < 0.5 * true  # or the test could not see a wrong value


def test_one_wild_run_does_not_steer(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    rows = runs(TRUTH)
    rows[3] = _measured(rows[3], rows[3].ttft_ms * 20, (rows[3].tpot_ms or 0) * 6)
    values = fitted(fit(rows))
    assert values["host_us_per_pass"] == pytest.approx(TRUTH["host_us_per_pass"], rel=0.25)


def test_a_wait_for_room_is_not_fitted(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    rows = runs(TRUTH)
    for place in (2, 3, 6, 7):  # half of the rows of one model wait for 300 passes
        rows[place] = _measured(
            rows[place], 300 * (rows[place].tpot_ms or 0), rows[place].tpot_ms or 0
        )
    assert fitted(fit(rows))["ttft_offset_ms"] == pytest.approx(TRUTH["ttft_offset_ms"], rel=0.05)


def test_what_the_runs_do_not_tell_stays_as_shipped_and_is_said(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    document = fit(runs(TRUTH)).to_json()
    settings: Any = document["settings"]
    assert settings["tokenise_us_per_token"]["identified"] is False
    assert settings["tokenise_us_per_token"]["fitted"] == 0


def test_only_what_a_preset_names_and_calls_calibrated_is_fitted(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    """Neither a documented nor an assumed value, and nothing that the preset leaves out."""
    assert set(fitted(fit(runs(TRUTH)))) == {*TRUTH, "tokenise_us_per_token"}


def test_a_preset_without_any_calibrated_value_has_all_that_nobody_documents_fitted() -> None:
    document = DOCUMENT | {"origin": "assumed", "settings": {"host_us_per_pass": 0}}
    assert [knob.key for knob in Preset("generic", document).knobs] == [k.key for k in KNOBS]


def test_values_stay_within_their_bounds(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    found = fit(runs({**TRUTH, "host_us_per_pass": 40_000.0}))
    assert fitted(found)["host_us_per_pass"] == 10_000


def test_each_model_and_each_gpu_is_left_out_once(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    found = fit(runs(TRUTH))
    assert [one.group for one in found.by_model] == ["large", "small"]
    assert [one.group for one in found.by_gpu] == ["h100_sxm", "h200_sxm"]
    # the same truth holds everywhere, so what is left out is predicted
    assert all((one.tpot.median_ape or 0) < 0.02 for one in (*found.by_model, *found.by_gpu))


def test_too_few_runs_are_refused(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    with pytest.raises(InputError, match="5 sound rows of vllm, 8 are needed"):
        fit(runs(TRUTH)[:5])


def test_a_preset_keeps_everything_that_was_not_fitted() -> None:
    changed = Preset("vllm", DOCUMENT).changed({"host_us_per_pass": 1234.56}, origin="calibrated")
    settings: Any = changed.document["settings"]
    assert settings["host_us_per_pass"] == 1230
    assert settings["memory_reserve_gb"] == 1.5
    assert changed.document["origin"] == "calibrated"
    assert changed.value("ttft_offset_ms") == 5


def test_rows_are_spread_over_models_gpus_and_loads() -> None:
    chosen = spread_rows(runs(TRUTH), 8)
    assert len(chosen) == 8
    assert {(run.model, run.gpu) for run in chosen} == {
        (model, gpu) for model in ("small", "large") for gpu in ("h100_sxm", "h200_sxm")
    }


def test_the_least_soft_size_of_a_sample_lies_between_median_and_mean() -> None:
    sample = np.array([0.1, 0.2, 0.3, 0.4, 0.9])
    found = minimise(lambda shares: sample - shares[0], np.array([0.5]), scale=0.05)
    assert 0.3 < found.shares[0] < sample.mean()
    quadratic = minimise(lambda shares: sample - shares[0], np.array([0.5]), scale=1e3)
    assert quadratic.shares[0] == pytest.approx(sample.mean())


def test_a_minimum_beyond_a_bound_is_held_there() -> None:
    target = np.array([1.4, 0.5])
    found = minimise(lambda shares: shares - target, np.array([0.2, 0.2]), scale=10)
    assert found.shares == pytest.approx([1.0, 0.5])


def test_a_fit_states_its_own_error_of_models_left_out(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    """Each row once: the means of the models, weighted by their rows."""
    found = fit(runs(TRUTH, noise=0.04))
    means = [((one.tpot.mean_ape or 0.0) * one.tpot.n, one.tpot.n) for one in found.by_model]
    by_hand = sum(size for size, _ in means) / sum(count for _, count in means)
    assert found.preset.document["error"] == {
        "tpot_left_out_mean_ape": pytest.approx(by_hand, abs=6e-4)
    }


def test_a_fit_on_one_model_states_the_error_in_sample(
    fit: Callable[[list[MeasuredRun]], fitting.EngineFit],
) -> None:
    found = fit([run for run in runs(TRUTH, noise=0.04) if run.model == "small"])
    assert found.preset.document["error"] == {
        "tpot_mean_ape": pytest.approx(found.after.tpot.mean_ape, abs=6e-4)
    }


def test_a_value_below_its_standard_error_is_not_told_apart() -> None:
    found = Solution(
        np.array([2_290.0, 500.0, 0.0]), np.array([2_900.0, 20.0, np.nan]), (True, True, True)
    )
    assert found.told_apart == (False, True, None)
