"""A page of one figure that needs nothing else: what all such pages share."""

from html import escape
from string import Template
from typing import Final

from sim.report.figures.palette import palette
from sim.report.figures.template import CONFIG, FONT, Figure

_PAGE: Final = Template("""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { margin: 0 auto; max-width: 1060px; padding: 24px 20px 48px; background: $background;
  color: $ink; font: 15px/1.5 $font; }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 12px; }
h2 { font-size: 1.02rem; margin: 32px 0 8px; }
.card { border: 1px solid $border; border-radius: 6px; padding: 12px; }
.wide { overflow-x: auto; }
.muted { color: $muted; }
table { border-collapse: collapse; font-size: 0.93rem; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 10px; border-bottom: 1px solid $border; text-align: right; }
th { background: $panel; font-weight: 600; }
th.text, td.text { text-align: left; }
$style</style>
<h1>$title</h1>
$body
</html>
""")
_COLORS: Final = ("background", "ink", "muted", "border", "panel")


def page_html(title: str, body: str, *, dark: bool, style: str = "") -> str:
    """Return the page; `style` are rules of its own, after those of all."""
    colors = palette(dark=dark)
    named = {name: getattr(colors, name) for name in _COLORS}
    return _PAGE.substitute(title=escape(title), body=body, style=style, font=FONT, **named)


def card(drawn: Figure, div_id: str) -> str:
    """Return a figure in its frame; Plotly's own script is inside, so it needs no network."""
    figure = drawn.to_html(full_html=False, include_plotlyjs=True, config=CONFIG, div_id=div_id)
    return f'<div class="card">{figure}</div>'
