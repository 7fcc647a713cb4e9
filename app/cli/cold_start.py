"""`paretoken coldstart`: from nothing to the first token, phase by phase."""

from app.cli.exits import ANSWER
from app.cli.output import emit_json, waiting
from app.cli.page import Page
from sim.planning.cold import cold_start
from sim.report.cold_start import cold_answer, cold_document, phase_table, user_table
from sim.scenario import load_scenario


def show_cold_start(reference: str, overrides: list[str], *, as_json: bool) -> int:
    """Print how long a replica takes to be ready, and what its first users see."""
    scenario = load_scenario(reference, overrides)
    with waiting(f"Starting {scenario.name} from nothing"):
        report = cold_start(scenario)
    if as_json:
        emit_json(cold_document(report))
        return ANSWER
    page = Page()
    page.line(cold_answer(report), style="bold")
    page.table(phase_table(report))
    page.table(user_table(report))
    page.show()
    return ANSWER
