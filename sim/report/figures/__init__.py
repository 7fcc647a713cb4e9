"""Pure functions from results to Plotly figures; Plotly itself loads when a figure is drawn.

A figure has no title: its finding is a sentence of its own (`waterfall_finding` and the like),
which a page sets above it.
"""

from sim.report.figures.frontier import frontier_figure
from sim.report.figures.frontier_page import frontier_html
from sim.report.figures.frontier_words import frontier_finding
from sim.report.figures.pass_waterfall import pass_finding, pass_waterfall_figure
from sim.report.figures.roofline import roofline_figure, roofline_finding
from sim.report.figures.template import CONFIG
from sim.report.figures.waterfall import waterfall_figure, waterfall_finding

__all__ = [
    "CONFIG",
    "frontier_figure",
    "frontier_finding",
    "frontier_html",
    "pass_finding",
    "pass_waterfall_figure",
    "roofline_figure",
    "roofline_finding",
    "waterfall_figure",
    "waterfall_finding",
]
