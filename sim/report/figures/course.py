"""How a run went: who runs, who waits and how full the KV pools are, over simulated time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sim.metrics.timeline import NOBODY, Timeline
from sim.records import FloatArray
from sim.report.figures.palette import palette, translucent
from sim.report.figures.template import Figure, figure
from sim.report.words import percent
from sim.units import counted

_MOST_POINTS: Final = 250
"""Of one panel: as many as a card is wide in half pixels; bins are averaged to get there."""
_GAP: Final = 0.08
_HEIGHT_PX: Final = 380
_MARGIN_PX: Final = 78
"""At the right, for `peak 1,234`."""
_S_PER_MIN: Final = 60.0
_MINUTES_FROM_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class Course:
    """All replicas of a run together, bin by bin."""

    time_s: FloatArray
    """Where each bin begins, and where the last one ends."""
    running: FloatArray
    """Sequences in passes."""
    waiting: FloatArray
    """Requests that have arrived and are not admitted."""
    kv_share: FloatArray
    """Of the KV pools of all replicas, what is in use."""


def course(table: Timeline) -> Course:
    """Return the course of all replicas: sums, and the mean share of their pools."""
    replicas = [name for name in np.unique(table.columns["replica"]) if name != NOBODY]
    bins = len(np.unique(table.columns["time_s"]))
    first = np.arange(0, bins, -(-bins // _MOST_POINTS))

    def added(name: str, among: Sequence[int]) -> FloatArray:
        each = [table.columns[name][table.columns["replica"] == one] for one in among]
        total: FloatArray = np.sum(each, axis=0)
        return np.asarray(np.add.reduceat(total, first) / np.diff([*first, bins]))

    everyone = list(np.unique(table.columns["replica"]))
    return Course(
        time_s=table.bin_s * np.asarray([*first, bins], dtype=np.float64),
        running=added("running", replicas),
        waiting=added("queued", everyone),
        kv_share=added("kv_share", replicas) / max(1, len(replicas)),
    )


def course_finding(seen: Course) -> str:
    """Return what the figure shows, in one line of at most 52 characters."""
    kv, most = percent(_peak(seen.kv_share), 0), _peak(seen.waiting)
    if most < 0.5:
        return f"Hardly anybody waits; the KV cache peaks at {kv}"
    return f"The queue peaks at {counted(round(most), 'request')}, KV cache at {kv}"


def course_figure(
    seen: Course, *, measured_s: tuple[float, float] | None = None, dark: bool = False
) -> Figure:
    """Draw three panels over one axis of time; what is counted lies on a pale ground."""
    colors = palette(dark=dark)
    in_minutes = seen.time_s[-1] >= _MINUTES_FROM_S
    scale = _S_PER_MIN if in_minutes else 1.0
    drawn = figure(_HEIGHT_PX, dark=dark)
    panels = (
        _Panel("Running", "requests", seen.running, colors.accent),
        _Panel("Waiting", "requests", seen.waiting, colors.bad),
        _Panel("KV cache", "% of the pools", 100 * seen.kv_share, colors.accent),
    )
    height = (1 - 2 * _GAP) / 3
    for place, panel in enumerate(panels):
        axis, top = _axis(place), 1 - place * (height + _GAP)
        drawn.add_trace(panel.area(seen.time_s / scale, axis))
        drawn.update_layout({f"yaxis{axis[1:]}": panel.scale(top, height)})
        name = f"<b>{panel.name}</b> ({panel.unit})"
        drawn.add_annotation(**_label(name, 0, top, colors.ink))
        drawn.add_annotation(
            **_label(f"peak <b>{panel.peak}</b>", 1.01, top - height / 2, colors.muted)
        )
    drawn.update_xaxes(
        title_text=f"simulated time ({'minutes' if in_minutes else 's'})",
        anchor=_axis(len(panels) - 1),
        range=[0, seen.time_s[-1] / scale],
    )
    if measured_s is not None:
        drawn.add_shape(
            type="rect", yref="paper", y0=0, y1=1, line_width=0, layer="below",
            x0=measured_s[0] / scale, x1=min(measured_s[1], seen.time_s[-1]) / scale,
            fillcolor=translucent(colors.fill, 0.22),
        )  # fmt: skip
    drawn.update_layout(hovermode="x unified", margin={"r": _MARGIN_PX, "t": 22})
    return drawn


@dataclass(frozen=True, slots=True)
class _Panel:
    """One of the panels above each other."""

    name: str
    unit: str
    values: FloatArray
    color: str

    @property
    def peak(self) -> str:
        """The largest value in words."""
        most = _peak(self.values)
        if self.unit.startswith("%"):
            return percent(most / 100, 0)
        return f"{most:,.0f}" if most >= 10 else f"{most:.1f}"

    def scale(self, top: float, height: float) -> dict[str, object]:
        """Return the axis of the values."""
        return {
            "domain": [max(0.0, top - height), top],
            "range": [0, max(_peak(self.values), 1e-9) * 1.12],
            "nticks": 3,
        }

    def area(self, edges: FloatArray, axis: str) -> Figure:
        """Return the values as steps over an area."""
        import plotly.graph_objects as go

        return go.Scatter(
            x=[round(at, 4) for at in edges.tolist()],
            y=[round(value, 3) for value in [*self.values.tolist(), self.values[-1].item()]],
            name=self.name,
            yaxis=axis,
            mode="lines",
            fill="tozeroy",
            line={"shape": "hv", "width": 1.2, "color": self.color},
            fillcolor=translucent(self.color, 0.14),
            hovertemplate=f"%{{y:.3~g}} {self.unit}",
        )


def _axis(place: int) -> str:
    return "y" if place == 0 else f"y{place + 1}"


def _peak(values: FloatArray) -> float:
    return float(np.nanmax(values, initial=0.0))


def _label(text: str, x: float, y: float, color: str) -> dict[str, object]:
    """Return words above a panel, or at its right."""
    return {
        "text": text,
        "xref": "paper",
        "yref": "paper",
        "x": x,
        "y": y,
        "xanchor": "left",
        "yanchor": "bottom" if x == 0 else "middle",
        "showarrow": False,
        "font": {"size": 12, "color": color},
    }
