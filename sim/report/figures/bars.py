"""Parts of a whole as a waterfall: a bar for each part, beginning where the one before ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from sim.report.figures.palette import palette, style
from sim.report.figures.template import Figure, figure
from sim.report.words import percent, time_ms
from sim.units import MS_PER_S

BAR_WIDTH = 0.62
ROOM_FOR_TEXT = 1.38
"""The axis ends at this multiple of the whole, so that labels fit at 420 px."""


@dataclass(frozen=True, slots=True)
class Part:
    """One bar."""

    label: str
    seconds: float
    note: str
    """Shown on hover: the origin, or what bounds it."""


def largest(parts: Sequence[Part]) -> Part | None:
    """Return the part that takes longest; `None` where there is no time at all."""
    longest = max(parts, key=lambda part: part.seconds, default=None)
    return longest if longest is not None and longest.seconds > 0 else None


def bars_figure(
    parts: Sequence[Part], *, total_label: str, axis: str, strategy: str, dark: bool
) -> Figure:
    """Draw the parts and, below them, their sum; only the largest part is coloured."""
    import plotly.graph_objects as go

    colors = palette(dark=dark)
    whole_s = sum(part.seconds for part in parts)
    starts_ms = [at * MS_PER_S for at in accumulate((p.seconds for p in parts), initial=0.0)][:-1]
    chief, hue = largest(parts), style(strategy).color(dark=dark)
    labels = [part.label for part in parts]
    texts = [_text(part.seconds, whole_s) for part in parts]
    drawn = figure(46 + 40 * (len(parts) + 1), dark=dark)
    drawn.add_trace(
        go.Bar(
            orientation="h",
            y=[*labels, total_label],
            x=[*(part.seconds * MS_PER_S for part in parts), whole_s * MS_PER_S],
            base=[*starts_ms, 0.0],
            width=BAR_WIDTH,
            marker={
                "color": [*(hue if p is chief else colors.fill for p in parts), colors.accent],
                "line": {"width": 0},
            },
            text=[*texts, f"<b>{time_ms(whole_s)}</b>"],
            textposition="outside",
            textfont={"color": colors.ink},
            cliponaxis=False,
            customdata=[
                *(_hover(p, s, whole_s) for p, s in zip(parts, starts_ms, strict=True)),
                "",
            ],
            hovertemplate="<b>%{y}</b><br>%{text}%{customdata}<extra></extra>",
        )
    )
    drawn.update_layout(shapes=_connectors(starts_ms, whole_s * MS_PER_S, colors.axis))
    drawn.update_xaxes(range=[0, max(whole_s, 1e-9) * MS_PER_S * ROOM_FOR_TEXT], title_text=axis)
    drawn.update_yaxes(
        autorange="reversed", showgrid=False, tickfont_color=colors.ink, ticklabelstandoff=6
    )
    return drawn


def _text(seconds: float, whole_s: float) -> str:
    share = percent(seconds / whole_s if whole_s > 0 else 0.0, 0)
    return f"<b>{time_ms(seconds)}</b> {share}"


def _hover(part: Part, start_ms: float, whole_s: float) -> str:
    end_ms = start_ms + part.seconds * MS_PER_S
    span = f"{time_ms(start_ms / MS_PER_S)} – {time_ms(end_ms / MS_PER_S)}"
    return f" of {time_ms(whole_s)}<br>from {span}<br>{part.note}"


def _connectors(
    starts_ms: Sequence[float], whole_ms: float, color: str
) -> list[dict[str, object]]:
    """Return thin lines from the end of each bar to the beginning of the next."""
    edges = [*starts_ms[1:], whole_ms]
    return [
        {
            "type": "line",
            "x0": at,
            "x1": at,
            "y0": place + BAR_WIDTH / 2,
            "y1": place + 1 - BAR_WIDTH / 2,
            "line": {"color": color, "width": 1},
        }
        for place, at in enumerate(edges)
    ]
