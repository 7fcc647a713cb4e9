"""`paretoken passes`: one request taken apart under each strategy."""

from pathlib import Path

from app.cli.exits import ANSWER
from app.cli.output import emit, emit_json
from app.cli.page import Page
from sim.errors import InputError, SimError
from sim.planning.anatomy import Anatomy, anatomy
from sim.planning.naming import strategies_named
from sim.planning.strategies import entries
from sim.report.anatomy import anatomy_answer, anatomy_document, anatomy_tables, timelines
from sim.scenario import load_scenario


def show_passes(
    reference: str,
    overrides: list[str],
    strategies: str | None,
    *,
    input_tokens: int | None,
    output_tokens: int | None,
    batch: int,
    out: Path | None,
    as_json: bool,
) -> int:
    """Print passes, work, time, and what the user sees when; `out` gets the figure."""
    scenario = load_scenario(reference, overrides)
    meant = (
        entries(scenario)
        if strategies is None
        else strategies_named(scenario, strategies.split(","))
    )
    if out is not None:
        from sim.report.files import check_folder

        check_folder(out)
    found, refused = list[Anatomy](), list[str]()
    for entry in meant:
        try:
            one = anatomy(
                *(scenario, entry), input_tokens=input_tokens, output_tokens=output_tokens,
                batch=batch,
            )  # fmt: skip
        except SimError as error:
            refused.append(f"{entry.label}: {error}")
        else:
            found.append(one)
    if not found:
        raise InputError(refused[0])
    if out is not None:
        from sim.report.figures.anatomy import anatomy_html
        from sim.report.files import write_files

        write_files(out, {"passes.html": anatomy_html(found).encode()})
    if as_json:
        emit_json(anatomy_document(found) | {"refused": refused})
    else:
        _print(found, refused, out)
    return ANSWER


def _print(found: list[Anatomy], refused: list[str], out: Path | None) -> None:
    page = Page()
    page.line(anatomy_answer(found), style="bold")
    for table in anatomy_tables(found):
        page.table(table)
    page.points("Not decoded like this", refused)
    if out is not None:
        page.line()
        page.line(f"Written to {out}: passes.html")
    page.show()
    emit("\n".join(["", *timelines(found), ""]))
