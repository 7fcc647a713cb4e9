"""`paretoken validate`: measured serving runs against the simulator."""

from pathlib import Path
from typing import Literal

from app.cli.exits import ANSWER, ANSWER_IS_NO
from app.cli.output import bar, emit_json
from app.cli.page import Page
from calibration.validate import ErrorTable, Validation, error_tables, validate_file, write_files
from sim.report.files import check_folder
from sim.report.table import Column, Table
from sim.report.words import percent

Statistic = Literal["mean", "median"]


def validate_runs(path: Path, *, ttft: Statistic, out: Path | None, as_json: bool) -> int:
    """Simulate each measured run and print how far the predictions are off."""
    if out is not None:
        check_folder(out)
    with bar("Simulating measured runs") as progress:
        validation = validate_file(path, ttft_statistic=ttft, progress=progress)
    if out is not None:
        write_files(validation, out)
    code = ANSWER if validation.sound else ANSWER_IS_NO
    if as_json:
        emit_json(validation.to_json())
        return code
    page = Page()
    page.line(_answer(validation), style="bold")
    for table in error_tables(validation):
        if table.rows:
            page.table(_drawn(table))
    if out is not None:
        page.line()
        page.line(f"Written to {out}: rows.csv and parity.html")
    page.show()
    return code


def _answer(validation: Validation) -> str:
    tpot, first = validation.overall.tpot.median_ape, validation.overall.ttft.median_ape
    compared = f"{len(validation.sound)} of {validation.rows} runs compared"
    errors = [
        f"{name} off by {percent(error)}"
        for name, error in (("TPOT", tpot), ("TTFT", first))
        if error is not None
    ]
    return f"{compared}: at the median {' and '.join(errors)}." if errors else f"{compared}."


def _drawn(table: ErrorTable) -> Table:
    words = {table.columns[0], "first case"}
    heads = (Column(name, "left" if name in words else "right") for name in table.columns)
    return Table(table.title, tuple(heads), table.rows)
