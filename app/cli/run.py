"""`paretoken run`: simulate one scenario."""

from pathlib import Path

from app.cli.exits import ANSWER, ANSWER_IS_NO
from app.cli.output import emit_json, waiting
from sim.report.document import outcome_document
from sim.run import Outcome, run
from sim.scenario import load_scenario


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
