"""`paretoken validate`: measured serving runs against the simulator."""

from pathlib import Path
from typing import Literal

from app.cli.exits import ANSWER
from app.cli.output import Page, bar, emit_json
from calibration.validate import error_tables, validate_file, write_files
from sim.report.files import check_folder
from sim.report.table import Column, Table

Statistic = Literal["mean", "median"]


def validate_runs(path: Path, *, ttft: Statistic, out: Path | None, as_json: bool) -> int:
    """Simulate each measured run and print how far the predictions are off."""
    if out is not None:
        check_folder(out)
    with bar("Simulating measured runs") as progress:
        validation = validate_file(path, ttft_statistic=ttft, progress=progress)
    if out is not None:
        write_files(validation, out)
    if as_json:
        emit_json(validation.to_json())
        return ANSWER
    page = Page()
    tpot, first = validation.overall.tpot, validation.overall.ttft
    errors = f"TPOT off by {_share(tpot.median_ape)}, TTFT by {_share(first.median_ape)}"
    compared = f"{len(validation.sound)} of {validation.rows} runs compared"
    page.line(f"{compared}: at the median {errors}.", style="bold")
    for table in error_tables(validation):
        heads = tuple(
            Column(name, "right" if index else "left") for index, name in enumerate(table.columns)
        )
        page.table(Table(table.title, heads, table.rows))
    if out is not None:
        page.line(f"Written to {out}: rows.csv, parity.html")
    page.show()
    return ANSWER


def _share(error: float | None) -> str:
    return "an unknown share" if error is None else f"{error:.1%}"
