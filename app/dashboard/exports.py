"""The answer in sight as files, the very ones that `paretoken run --out` writes.

They are made when somebody takes them: nothing of it weighs on the move of a slider.
"""

from collections.abc import Callable
from typing import Final

import streamlit as st

from sim.report.files import FILES
from sim.run import Outcome

_WHAT: Final = {
    "scenario.yaml": ("Scenario", "application/yaml", "Gives this answer: `paretoken run`."),
    "report.md": ("Report", "text/markdown", "All tables of this answer, in Markdown."),
    "requests.parquet": (
        *("Requests", "application/vnd.apache.parquet"),
        "One row for each counted request.",
    ),
    "costs.csv": ("Costs", "text/csv", "The bill, item by item."),
    "outcome.json": ("Everything", "application/json", "All figures with their intervals."),
}
"""Label, type and explanation of each file, in the order of the list."""


def makers(outcome: Outcome) -> dict[str, Callable[[], bytes]]:
    """Return what makes each file, by its name."""
    return {name: lambda make=FILES[name]: make(outcome) for name in _WHAT}  # type: ignore[misc]


def draw(outcome: Outcome) -> None:
    """Draw the list of files; its buttons only while it is open."""
    place = st.popover(
        "Export", icon=":material/download:", type="tertiary", on_change="rerun",
        help="This answer as files, and the scenario that gives it again.",
    )  # fmt: skip
    if not place.open:
        return
    with place:
        for name, make in makers(outcome).items():
            label, kind, about = _WHAT[name]
            st.download_button(
                f"{label}: {name}",
                make,
                file_name=f"{outcome.scenario.name}-{name}",
                mime=kind,
                type="tertiary",
                on_click="ignore",
                help=about,
                key=f"export {name}",
            )
