"""`paretoken run`: simulate one scenario."""

import sys
from pathlib import Path
from typing import Final

from app.cli.exits import ANSWER, ANSWER_IS_NO
from app.cli.output import emit_json, waiting
from sim.report.document import outcome_document
from sim.run import Outcome, run
from sim.scenario import Scenario, load_scenario
from sim.units import GB
from sim.workload import Trace

LONG_RUN: Final = 2_000_000
"""Requests from which on a run is announced."""
REQUESTS_PER_S: Final = 5_000
"""Requests that are simulated per second of one core, roughly (chat of 1,000 tokens, 8B model)."""
BYTES_PER_REQUEST: Final = 1_000
"""Memory of a request while its run is simulated and measured."""


def run_scenario(
    reference: str,
    overrides: list[str],
    *,
    trace: Path | None,
    seed: int | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Simulate and print; return the exit code."""
    changes = overrides if seed is None else [*overrides, f"run.seed={seed}"]
    scenario = load_scenario(reference, changes, trace=trace)
    if out is not None:
        from sim.report.files import check_folder

        check_folder(out)
    _warn_of_length(scenario)
    with waiting(f"Simulating {scenario.name}"):
        outcome = run(scenario)
    if out is not None:
        from sim.report.files import write_outcome

        write_outcome(outcome, out)
    if as_json:
        emit_json(outcome_document(outcome))
    else:
        _print(outcome, out)
    return ANSWER if outcome.metrics.slo.met else ANSWER_IS_NO


def _warn_of_length(scenario: Scenario) -> None:
    """Say before it begins what a very long run takes; a trace brings its own length."""
    requests = scenario.run.requests
    if requests < LONG_RUN or isinstance(scenario.workload.arrivals, Trace):
        return
    minutes = requests / REQUESTS_PER_S / 60
    time = f"{minutes:,.0f} minutes" if minutes < 120 else f"{minutes / 60:,.0f} hours"
    print(
        f"paretoken: {requests:,} requests take about {time} and"
        f" {requests * BYTES_PER_REQUEST / GB:,.0f} GB of memory; some thousands are enough for"
        " most questions.",
        file=sys.stderr,
    )


def _print(outcome: Outcome, out: Path | None) -> None:
    from app.cli.page import Page
    from sim.report.answer import answer, context
    from sim.report.tables import outcome_tables

    page = Page()
    page.line(answer(outcome), style="bold")
    page.line(context(outcome), style="dim")
    for table in outcome_tables(outcome):
        page.table(table)
    page.points("Notes", outcome.metrics.notes)
    page.points("Not modelled", outcome.not_modelled)
    if out is not None:
        page.line()
        page.line(f"Written to {out}: requests.parquet, outcome.json, report.md and more")
    page.show()
