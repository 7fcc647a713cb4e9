"""What all figures share: fonts, axes, margins."""

from functools import cache
from typing import Any, Final, TypeAlias

from sim.report.figures.palette import palette

Figure: TypeAlias = Any
"""`plotly.graph_objects.Figure`: Plotly ships no types, and loads when a figure is drawn."""

CONFIG: Final = {"displayModeBar": False, "responsive": True}
"""For `Figure.write_html` and `streamlit.plotly_chart`."""
FONT: Final = '"Source Sans", "Source Sans 3", "Source Sans Pro", system-ui, sans-serif'
"""The dashboard's own first. A name that ends in a digit must be quoted, or CSS drops them all."""
TEXT_PX: Final = 13


@cache
def template(*, dark: bool) -> Any:  # noqa: ANN401  # Plotly ships no types
    """Return the Plotly template for a light or a dark background."""
    import plotly.graph_objects as go

    colors = palette(dark=dark)
    title = {"font": {"size": 12.5, "color": colors.muted}, "standoff": 8}
    axis = {
        "tickfont": {"size": 12, "color": colors.muted},
        "title": title,
        "zeroline": False,
        "automargin": True,
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": TEXT_PX, "color": colors.ink},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
            "showlegend": False,
            "separators": ".,",
            "hoverlabel": {
                "bgcolor": colors.panel,
                "bordercolor": colors.border,
                "align": "left",
                "font": {"size": TEXT_PX, "family": FONT, "color": colors.ink},
            },
            "xaxis": {
                **axis,
                "showline": True,
                "linecolor": colors.axis,
                "ticks": "outside",
                "ticklen": 4,
                "tickcolor": colors.axis,
                "showgrid": False,
                "tickangle": 0,
            },
            "yaxis": {**axis, "showline": False, "gridcolor": colors.grid, "gridwidth": 1},
        }
    )


def figure(height_px: int, *, dark: bool) -> Figure:
    """Return an empty figure of the house."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    drawn.update_layout(template=template(dark=dark), height=height_px)
    return drawn
