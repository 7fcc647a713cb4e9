"""A few bars as SVG, written out: for documents, where a figure must not load anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from sim.report.figures.palette import DARK, LIGHT, Palette
from sim.report.figures.template import FONT, TEXT_PX

WIDTH: Final = 640
LABEL_WIDTH: Final = 210
ROW: Final = 34
BAR: Final = 20
ROOM_FOR_TEXT: Final = 90


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; `text` is what stands at its end."""

    label: str
    value: float
    text: str
    chief: bool = False
    """Coloured: the one that the figure is about."""


def small_bars_svg(title: str, bars: Sequence[Bar]) -> str:
    """Return bars from zero on one scale, in the given order; light or dark as the reader's."""
    most = max((bar.value for bar in bars), default=0.0) or 1.0
    room = WIDTH - LABEL_WIDTH - ROOM_FOR_TEXT
    height = ROW * len(bars) + 8
    rows = [_row(bar, place, bar.value / most * room) for place, bar in enumerate(bars)]
    style = f"{_colors(LIGHT)}@media (prefers-color-scheme:dark){{{_colors(DARK)}}}"
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    name = f'role="img" aria-label="{escape(title)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {name}>',
            f"<title>{escape(title)}</title>",
            f"<style>text{{font:{TEXT_PX}px {FONT}}}{style}</style>",
            *rows,
            "</svg>",
            "",
        ]
    )


def _row(bar: Bar, place: int, width: float) -> str:
    top = ROW * place + 6
    middle = top + BAR / 2 + 5
    kind = "chief" if bar.chief else "part"
    return (
        f'<text class="ink" x="{LABEL_WIDTH - 10}" y="{middle:g}" text-anchor="end">'
        f"{escape(bar.label)}</text>"
        f'<rect class="{kind}" x="{LABEL_WIDTH}" y="{top}" width="{max(width, 1):.1f}"'
        f' height="{BAR}" rx="2"/>'
        f'<text class="ink" x="{LABEL_WIDTH + width + 8:.1f}" y="{middle:g}">'
        f"{escape(bar.text)}</text>"
    )


def _colors(colors: Palette) -> str:
    return f".ink{{fill:{colors.ink}}}.part{{fill:{colors.fill}}}.chief{{fill:{colors.accent}}}"
