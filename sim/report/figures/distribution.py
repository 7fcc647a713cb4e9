"""How latencies are spread over requests: the share of them that is inside each time."""

from typing import Final

import numpy as np

from sim.records import FloatArray
from sim.report.figures.palette import palette, style
from sim.report.figures.template import Figure, figure
from sim.report.words import Formatter, time_ms
from sim.units import MS_PER_S

_HEIGHT_PX: Final = 380
_POINTS: Final = 200
_ROOM: Final = 1.15
_HALF: Final = 0.44
"""Width of a panel, of the whole."""


def distribution_figure(
    ttft_s: FloatArray,
    tpot_s: FloatArray,
    *,
    targets_s: tuple[float | None, float | None] = (None, None),
    strategy: str = "autoregressive",
    dark: bool = False,
) -> Figure:
    """Draw the distribution of TTFT and, beside it, of TPOT, with the targets as lines."""
    drawn = figure(_HEIGHT_PX, dark=dark)
    color = style(strategy).color(dark=dark)
    for place, (name, values, target_s) in enumerate(
        (("TTFT", ttft_s, targets_s[0]), ("TPOT", tpot_s, targets_s[1]))
    ):
        number = "" if place == 0 else "2"
        known = np.sort(values[np.isfinite(values)]) * MS_PER_S
        left = place * (1 - _HALF)
        drawn.update_layout({
            f"xaxis{number}": {
                "domain": [left, left + _HALF],
                "title": {"text": _title(name, known)},
                "anchor": f"y{number}",
                "range": [0, _end_ms(known, target_s)],
                "nticks": 5,
            },
            f"yaxis{number}": {
                "range": [0, 1.03],
                "tickformat": ".0%",
                "anchor": f"x{number}",
                "title": {"text": "share of requests" if place == 0 else ""},
            },
        })  # fmt: skip
        if len(known):
            drawn.add_traces(_curve(known, name, number, color, dark=dark))
        if target_s is not None:
            _draw_target(drawn, target_s, number, dark=dark)
    drawn.update_layout(margin={"t": 22})
    return drawn


def distribution_finding(ttft_s: FloatArray, form: Formatter = time_ms) -> str:
    """Return what the figure shows, in one line of at most 52 characters."""
    known = ttft_s[np.isfinite(ttft_s)]
    if not len(known):
        return "No request has a first token"
    half, most = (float(np.quantile(known, share)) for share in (0.5, 0.99))
    return f"Half start within {form(half)}, 99% within {form(most)}"


def _title(name: str, known_ms: FloatArray) -> str:
    """Return the quantity and its p99: on the axis no curve runs through the words."""
    if not len(known_ms):
        return f"{name} (ms)"
    return f"{name} (ms); <b>p99 {time_ms(float(np.quantile(known_ms, 0.99)) / MS_PER_S)}</b>"


def _end_ms(known: FloatArray, target_s: float | None) -> float:
    """Return where the axis ends: past p99.5, and past the target unless that is far off."""
    if not len(known):
        return 1.0 if target_s is None else target_s * MS_PER_S * _ROOM
    most = float(np.quantile(known, 0.995))
    target = 0.0 if target_s is None else target_s * MS_PER_S
    return max(most, target if target < 5 * most else 0.0, 1e-6) * _ROOM


def _curve(known: FloatArray, name: str, number: str, color: str, *, dark: bool) -> list[Figure]:
    """Return the curve, and the point that 99 of 100 requests do not pass."""
    import plotly.graph_objects as go

    shares = np.linspace(0.0, 1.0, _POINTS + 1)
    axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
    curve = go.Scatter(
        x=[round(at, 3) for at in np.quantile(known, shares).tolist()],
        y=[round(share, 4) for share in shares.tolist()],
        mode="lines",
        line={"color": color, "width": 2},
        hovertemplate=f"%{{y:.1%}} within %{{x:.4~g}} ms<extra>{name}</extra>",
        **axes,
    )
    p99 = float(np.quantile(known, 0.99))
    dot = go.Scatter(
        x=[p99, p99],
        y=[0.99, 0.0],
        mode="lines+markers",
        marker={"color": color, "size": [7, 0.1]},
        line={"color": palette(dark=dark).axis, "width": 1},
        hoverinfo="skip",
        **axes,
    )
    return [curve, dot]


def _draw_target(drawn: Figure, target_s: float, number: str, *, dark: bool) -> None:
    """Draw the target as a dashed line with its words, where it lies on the axis."""
    at = target_s * MS_PER_S
    if at > drawn.layout[f"xaxis{number}"].range[1]:
        return
    bad = palette(dark=dark).bad
    axes = {"xref": f"x{number}", "yref": f"y{number}"}
    drawn.add_shape(
        type="line", x0=at, x1=at, y0=0, y1=1.03,
        line={"color": bad, "width": 1.5, "dash": "dash"}, **axes,
    )  # fmt: skip
    drawn.add_annotation(
        x=at, y=1.03, text=f"target {_as_set(target_s)}", showarrow=False,
        yanchor="bottom", xanchor="center", font={"size": 12, "color": bad}, **axes,
    )  # fmt: skip


def _as_set(target_s: float) -> str:
    """Return a target as it was set: 1 s, 50 ms."""
    return f"{target_s:g} s" if target_s >= 1 else f"{target_s * MS_PER_S:g} ms"
