"""The catalog of workloads: files that load, and traffic that resembles the recorded one."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from sim.errors import UnknownNameError
from sim.workload import (
    TraceRows,
    Workload,
    list_workloads,
    load_workload_preset,
    read_trace,
)
from sim.workload.summary import dispersion, joint_ranks, spearman, summarise


def recorded(shared_data: Path, kind: str) -> TraceRows:
    path = shared_data / "traces" / f"AzureLLMInferenceTrace_{kind}_2023.csv"
    return read_trace(path)


@pytest.mark.parametrize("name", list_workloads())
def test_every_preset_loads_and_its_tables_have_the_means_that_it_states(name: str) -> None:
    preset = load_workload_preset(name)
    count = preset.measured_arrivals.requests
    assert sum(map(sum, preset.joint_ranks)) == count
    assert preset.measured_arrivals.requests_per_s == pytest.approx(
        (count - 1) / preset.measured_arrivals.span_s, rel=1e-5
    )
    for table, side in [
        (preset.input_table, preset.input_tokens),
        (preset.output_table, preset.output_tokens),
    ]:
        assert abs(table.mean / side.mean - 1) < side.cv / sqrt(count)  # one standard error


def test_an_unknown_preset_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean azure-conv-2023"):
        load_workload_preset("azure-conv")
    with pytest.raises(UnknownNameError, match="did you mean azure-code-2023"):
        Workload.model_validate({"preset": "azure-code-2024"})


@pytest.mark.parametrize(("kind", "classes"), [("conv", 10), ("code", 5)])
def test_the_azure_presets_hold_the_statistics_of_the_recordings(
    shared_data: Path, kind: str, classes: int
) -> None:
    measured = summarise(recorded(shared_data, kind), classes)
    shipped = load_workload_preset(f"azure-{kind}-2023").model_dump()
    np.testing.assert_array_equal(shipped["joint_ranks"], np.array(measured["joint_ranks"]))
    for key in ("measured_arrivals", "input_tokens", "output_tokens", "probabilities"):
        np.testing.assert_allclose(_numbers(shipped[key]), _numbers(measured[key]), rtol=1e-5)
    assert shipped["spearman"] == pytest.approx(measured["spearman"], abs=1e-4)


def _numbers(part: object) -> list[float]:
    if isinstance(part, dict):
        return [number for value in part.values() for number in _numbers(value)]
    if isinstance(part, list | tuple):
        return [float(number) for number in part]
    return [float(part)]  # type: ignore[arg-type]


def test_traffic_of_the_conversation_preset_resembles_the_recording(shared_data: Path) -> None:
    """Means and the mean product (what the KV pool holds) within four standard errors."""
    rows = recorded(shared_data, "conv")
    traffic = Workload.model_validate({"preset": "azure-conv-2023"}).draw(50_000, seed=1)
    for draw_of, real_of in [
        (traffic.input_tokens, rows.input_tokens),
        (traffic.output_tokens, rows.output_tokens),
        (traffic.input_tokens * traffic.output_tokens, rows.input_tokens * rows.output_tokens),
    ]:
        standard_error = real_of.std() * sqrt(1 / len(rows) + 1 / len(traffic))
        assert abs(draw_of.mean() - real_of.mean()) < 4 * standard_error
    drawn = spearman(traffic.input_tokens, traffic.output_tokens)
    assert abs(drawn - spearman(rows.input_tokens, rows.output_tokens)) < 4 / sqrt(len(rows))
    gaps, real = np.diff(traffic.arrival_s), np.diff(rows.arrival_s)
    assert gaps.std() / gaps.mean() == pytest.approx(real.std() / real.mean(), rel=0.03)
    assert gaps.mean() == pytest.approx(real.mean(), rel=4 / sqrt(len(gaps)))


def test_a_gaussian_copula_would_get_the_mean_product_of_the_lengths_wrong(
    shared_data: Path,
) -> None:
    """Why the preset holds a table of ranks: one correlation misses the shape of it."""
    rows = recorded(shared_data, "conv")
    given = {"preset": "azure-conv-2023", "length_correlation": 0.0728}
    traffic = Workload.model_validate(given).draw(50_000, seed=1)
    product = (traffic.input_tokens * traffic.output_tokens).mean()
    assert product > 1.08 * (rows.input_tokens * rows.output_tokens).mean()


def test_the_statistics_are_those_of_a_calculation_by_hand() -> None:
    x, y = np.array([1, 2, 2, 4]), np.array([10, 30, 20, 40])
    # mean ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4: covariance 4.5, variances 4.5 and 5
    assert spearman(x, y) == pytest.approx(4.5 / sqrt(4.5 * 5))
    assert joint_ranks(x, y, 2) == [[1, 1], [1, 1]]
    # windows of 1 s up to 4 s hold 3, 0, 0 and 2 requests: mean 1.25, variance 27/12
    times_s = np.array([0.0, 0.1, 0.2, 3.5, 4.0])
    assert dispersion(times_s, 1.0) == pytest.approx(27 / 12 / 1.25)
