"""The quicker of two all-reduces, by hand."""

import numpy as np
import pytest

from sim.cost.collectives import all_reduce_s, quicker_all_reduce
from sim.cost.residuals import grid_of
from sim.hardware import CollectiveFit
from sim.hardware.residual import Axis, Residual

LINK = 1e9
AXES = (Axis(of="ranks", at=(2.0, 4.0)), Axis(of="bytes", at=(1e3, 1e6)))


def fit(fixed_s: float, efficiency: float, hundredths: str | None = "0 0 0 0") -> CollectiveFit:
    table = None if hundredths is None else Residual(axes=AXES, hundredths=hundredths)
    return CollectiveFit(
        fixed_s=fixed_s,
        per_extra_rank_s=0.0,
        bandwidth_efficiency=efficiency,
        residual=table,
    )


def seconds(found: CollectiveFit, tensor_bytes: float, ranks: int) -> float:
    assert found.residual is not None
    factor = float(grid_of(found.residual).along("bytes", ranks=ranks).factor(tensor_bytes))
    form_s = float(all_reduce_s(tensor_bytes, ranks, fit=found, link_bytes_per_s=LINK))
    return form_s * factor


def test_small_tensors_go_by_the_lower_latency_and_large_ones_by_the_wider_link() -> None:
    """2 ranks send the tensor once: 1 kB in 1 us, 1 MB in 1 ms at the whole link of 1 GB/s."""
    wide, prompt = fit(100e-6, 1.0), fit(10e-6, 0.5)
    found = quicker_all_reduce(wide, prompt, link_bytes_per_s=LINK)
    assert seconds(found, 1e3, 2) == pytest.approx(10e-6 + 1e-6 / 0.5, rel=0.006)
    assert seconds(found, 1e6, 2) == pytest.approx(100e-6 + 1e-3, rel=0.006)


def test_tables_count_in_the_comparison() -> None:
    """Alike but for the table: e^-0.5 and e^0.5 of the form at 1 kB; the smaller is taken."""
    own, other = fit(10e-6, 0.5, "-50 0 -50 0"), fit(10e-6, 0.5, "50 0 50 0")
    found = quicker_all_reduce(own, other, link_bytes_per_s=LINK)
    assert seconds(found, 1e3, 2) == pytest.approx(12e-6 * np.exp(-0.5), rel=0.006)


def test_without_both_tables_the_other_engine_speaks_alone() -> None:
    other = fit(10e-6, 0.5)
    assert quicker_all_reduce(fit(1e-6, 0.9, None), other, link_bytes_per_s=LINK) is other
