import pytest

from sim.report.figures.parity import BAND, ParityPoint, parity_figure

POINTS = (
    ParityPoint("a", "vllm", measured_ms=10.0, predicted_ms=12.0),
    ParityPoint("b", "sglang", measured_ms=20.0, predicted_ms=15.0),
)


@pytest.mark.parametrize("dark", [False, True])
def test_measured_lies_along_x_and_predicted_along_y(dark: bool) -> None:
    drawn = parity_figure(POINTS, quantity="TPOT", dark=dark)
    assert [(trace.name, trace.x[0], trace.y[0]) for trace in drawn.data] == [
        ("sglang", 20.0, 15.0),
        ("vllm", 10.0, 12.0),
    ]
    assert drawn.layout.xaxis.type == drawn.layout.yaxis.type == "log"
    assert drawn.data[0].marker.symbol != drawn.data[1].marker.symbol


def test_the_diagonal_covers_all_points_with_its_band() -> None:
    band, line = parity_figure(POINTS, quantity="TPOT").layout.shapes
    assert line.x0 == line.y0 < 10.0
    assert line.x1 == line.y1 > 20.0
    x, y = (float(value) for value in band.path.removeprefix("M ").split(" L ")[0].split(","))
    assert y == pytest.approx(x * (1 - BAND), rel=1e-5)


def test_no_points_are_an_empty_figure() -> None:
    assert not parity_figure((), quantity="TTFT").data
