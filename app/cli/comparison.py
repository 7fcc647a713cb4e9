"""`paretoken compare`: one scenario under several decoding strategies."""

from pathlib import Path

from app.cli.exits import ANSWER, ANSWER_IS_NO, INTERRUPTED
from app.cli.options import seed_option
from app.cli.output import bar, emit_json
from app.cli.page import Page
from sim.errors import InputError
from sim.planning.comparison import compare
from sim.planning.naming import strategies_named
from sim.planning.strategies import entries
from sim.report.comparison import comparison_answer, comparison_document, comparison_tables
from sim.scenario import load_scenario


def compare_strategies(
    reference: str,
    overrides: list[str],
    strategies: str | None,
    *,
    trace: Path | None,
    seed: int | None,
    as_json: bool,
) -> int:
    """Run each strategy on the same requests and print one table, differences, and why."""
    scenario = load_scenario(reference, overrides, options=seed_option(seed), trace=trace)
    meant = (
        entries(scenario)
        if strategies is None
        else strategies_named(scenario, strategies.split(","))
    )
    if len(meant) < 2:
        raise InputError(
            f"{scenario.name} has one strategy, {meant[0].label}, and nothing to compare it with",
            where="--strategies",
            remedy="list more of them in the scenario's `strategies`",
        )
    with bar(f"Comparing {len(meant)} strategies") as progress:
        found = compare(scenario, meant, on_arm=progress)
    if as_json:
        emit_json(comparison_document(found))
    else:
        page = Page()
        page.line(comparison_answer(found), style="bold")
        if not found.complete:
            run = len(found.arms)
            page.line(f"Interrupted after {run} of {len(meant)} strategies: these were run.")
        for table in comparison_tables(found):
            page.table(table)
        page.show()
    if not found.complete:
        return INTERRUPTED
    return ANSWER if any(arm.compared for arm in found.arms) else ANSWER_IS_NO
