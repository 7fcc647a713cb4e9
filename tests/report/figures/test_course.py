"""The course of a run and the spread of its latencies: what is added, where the ends are."""

import numpy as np
import pytest

from sim.metrics.timeline import Timeline
from sim.report.figures.course import Course, course, course_figure, course_finding
from sim.report.figures.distribution import distribution_figure, distribution_finding
from sim.report.figures.palette import DARK, LIGHT

TWO_REPLICAS = Timeline(
    2.0,
    {
        "time_s": np.array([0.0, 2.0, 4.0, 0.0, 2.0, 4.0]),
        "replica": np.array([0, 0, 0, 1, 1, 1]),
        "running": np.array([1.0, 2.0, 3.0, 10.0, 20.0, 30.0]),
        "queued": np.array([0.0, 5.0, 0.0, 0.0, 7.0, 1.0]),
        "kv_share": np.array([0.2, 0.4, 0.6, 0.4, 0.8, 0.2]),
    },
)


def seen(*, waiting: list[float], kv: list[float], end_s: float = 6.0) -> Course:
    edges = np.linspace(0.0, end_s, len(waiting) + 1)
    return Course(edges, np.array(waiting), np.array(waiting), np.array(kv))


def test_replicas_are_added_and_their_pools_averaged() -> None:
    found = course(TWO_REPLICAS)
    assert found.time_s.tolist() == [0, 2, 4, 6]
    assert found.running.tolist() == [11, 22, 33]
    assert found.waiting.tolist() == [0, 12, 1]
    assert found.kv_share.tolist() == pytest.approx([0.3, 0.6, 0.4])


def test_many_bins_are_averaged_into_few() -> None:
    bins = 1000
    ones = np.ones(bins)
    columns = dict.fromkeys(("running", "queued", "kv_share"), ones)
    columns |= {"time_s": np.arange(bins, dtype=float), "replica": np.zeros(bins)}
    found = course(Timeline(1.0, columns))
    assert len(found.running) == 250
    assert found.running.tolist() == [1.0] * 250
    assert found.time_s[-1] == 1000


def test_the_finding_names_the_longest_queue_and_the_fullest_pool() -> None:
    found = course_finding(seen(waiting=[0, 12, 1], kv=[0.3, 0.6, 0.4]))
    assert found == "The queue peaks at 12 requests, KV cache at 60%"
    calm = course_finding(seen(waiting=[0.1, 0.2], kv=[0.1, 0.34]))
    assert calm == "Hardly anybody waits; the KV cache peaks at 34%"
    crowd = course_finding(seen(waiting=[123_456.0], kv=[0.999]))
    assert max(map(len, (found, calm, crowd))) <= 58


@pytest.mark.parametrize(("dark", "palette"), [(False, LIGHT), (True, DARK)])
def test_each_panel_holds_its_values_as_steps_and_the_counted_time_is_marked(
    dark: bool, palette: object
) -> None:
    found = seen(waiting=[0, 12, 1], kv=[0.3, 0.6, 0.4])
    figure = course_figure(found, measured_s=(1.0, 99.0), dark=dark)
    _, waiting, pool = figure.data
    assert list(waiting.y) == [0, 12, 1, 1]
    assert list(pool.y) == pytest.approx([30, 60, 40, 40])
    assert waiting.line.color == palette.bad  # type: ignore[attr-defined]
    (ground,) = figure.layout.shapes
    assert (ground.x0, ground.x1) == (1.0, 6.0)  # no further than the run
    assert "peak <b>12</b>" in [note.text for note in figure.layout.annotations]


def test_long_runs_are_drawn_in_minutes() -> None:
    figure = course_figure(seen(waiting=[1, 2], kv=[0, 0], end_s=1200.0))
    assert figure.layout.xaxis.title.text == "simulated time (minutes)"
    assert figure.layout.xaxis.range == (0, 20)


def test_the_curve_goes_through_the_median_and_p99() -> None:
    times_s = np.arange(101) / 1000  # 0 to 100 ms
    figure = distribution_figure(times_s, times_s / 10, targets_s=(0.08, None))
    curve, dot, *_ = figure.data
    assert np.interp(0.5, curve.y, curve.x) == pytest.approx(50)
    assert dot.x[0] == pytest.approx(99)
    assert [note.text for note in figure.layout.annotations] == ["target 80 ms"]
    assert figure.layout.xaxis.title.text == "TTFT (ms); <b>p99 99 ms</b>"
    assert figure.layout.xaxis2.title.text == "TPOT (ms); <b>p99 9.9 ms</b>"
    assert distribution_finding(times_s) == "Half start within 50 ms, 99% within 99 ms"


def test_a_target_far_off_does_not_press_the_curve_to_the_edge() -> None:
    times_s = np.full(100, 0.01)
    figure = distribution_figure(times_s, times_s, targets_s=(10.0, 0.02))
    assert figure.layout.xaxis.range[1] == pytest.approx(11.5)  # 10 ms and some room
    assert [note.text for note in figure.layout.annotations] == ["target 20 ms"]


def test_no_latency_draws_no_curve() -> None:
    nothing = np.full(3, np.nan)
    assert len(distribution_figure(nothing, nothing).data) == 0
    assert distribution_finding(nothing) == "No request has a first token"
