"""`paretoken frontier`: the decoding strategies of a scenario, compared at every user speed."""

from pathlib import Path

from app.cli.exits import ANSWER, ANSWER_IS_NO, INTERRUPTED
from app.cli.options import seed_option
from app.cli.output import bar, emit_json
from app.cli.page import Page
from sim.errors import InputError
from sim.planning import Frontier, frontier
from sim.report.figures import frontier_html
from sim.report.files import check_folder, write_files
from sim.report.frontier import (
    frontier_answer,
    frontier_document,
    frontier_tables,
)
from sim.scenario import load_scenario

QUICK_POINTS = 6
QUICK_REQUESTS = 300


def sweep_scenario(
    reference: str,
    overrides: list[str],
    *,
    tensor_parallel: str | None,
    quick: bool,
    trace: Path | None,
    seed: int | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Sweep the strategies and print what each gives at each user speed."""
    scenario = load_scenario(reference, overrides, options=seed_option(seed), trace=trace)
    widths = None if tensor_parallel is None else _widths(tensor_parallel)
    if out is not None:
        check_folder(out)
    with bar(f"Sweeping {scenario.name}") as progress:
        found = frontier(
            scenario,
            tensor_parallel=widths,
            points=QUICK_POINTS if quick else None,
            requests=QUICK_REQUESTS if quick else None,
            on_point=progress,
        )
    if out is not None:
        files = {"frontier.csv": found.csv(), "frontier.html": frontier_html(found)}
        contents = {name: text.encode() for name, text in files.items()}
        write_files(out, contents, main="frontier.csv")
    if as_json:
        emit_json(frontier_document(found))
    else:
        _print(found, out)
    if not found.complete:
        return INTERRUPTED
    return ANSWER if any(point.counts for point in found.points) else ANSWER_IS_NO


def _widths(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"expected numbers with commas, found `{text}`",
            where="--tensor-parallel",
            remedy="for example --tensor-parallel 1,2,4",
        ) from None


def _print(found: Frontier, out: Path | None) -> None:
    page = Page()
    page.line(frontier_answer(found), style="bold")
    if not found.complete:
        page.line("Stopped early: read from the points that were computed until then.")
    for table in frontier_tables(found):
        page.table(table)
    page.points("What is assumed", found.assumptions)
    if out is not None:
        page.line()
        page.line(f"Written to {out}: frontier.csv and frontier.html")
    page.show()
