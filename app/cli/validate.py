"""`paretoken validate`: measured serving runs against the simulator."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from app.cli.exits import ANSWER
from app.cli.output import bar, emit_json
from app.cli.page import Page
from calibration.benchmarks import (
    BenchmarkValidation,
    benchmark_tables,
    is_benchmark,
    refuse_scenario,
    validate_benchmark,
    write_benchmark_files,
)
from calibration.validate import (
    ErrorTable,
    Settings,
    Validation,
    error_tables,
    validate_file,
    write_files,
)
from sim.errors import InputError
from sim.report.files import check_folder
from sim.report.table import Column, Table
from sim.report.words import percent
from sim.scenario import load_scenario
from sim.units import counted

Statistic = Literal["mean", "median"]


def validate_runs(
    path: Path,
    served: tuple[str | None, Sequence[str]],
    *,
    ttft: Statistic,
    settings: Settings | None = None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Simulate each measured run and print how far the predictions are off.

    `served` is a scenario with overrides, for what a benchmark's file does not tell; `settings`
    says the same for a table of closed loops. Rows that cannot be simulated are part of it.
    """
    scenario, overrides = served
    if out is not None:
        check_folder(out)
    if is_benchmark(path):
        _refuse_settings(settings)
        return _benchmark(path, scenario, overrides, ttft=ttft, out=out, as_json=as_json)
    if scenario is not None or overrides:
        raise refuse_scenario(path)
    with bar("Simulating measured runs") as progress:
        validation = validate_file(
            path, ttft_statistic=ttft, settings=settings or "suite", progress=progress
        )
    if out is not None:
        write_files(validation, out)
    if as_json:
        emit_json(validation.to_json())
        return ANSWER
    _show(_answer(validation), error_tables(validation), validation.notes, out)
    return ANSWER


def _refuse_settings(settings: Settings | None) -> None:
    """Refuse the suite's settings for the result file of a benchmark, which is nobody's suite."""
    if settings == "suite":
        raise InputError(
            "is for tables of closed loops; a result file has its own settings",
            where="--settings suite",
            remedy="give the deployment with --scenario",
        )


def _benchmark(
    path: Path,
    reference: str | None,
    overrides: Sequence[str],
    *,
    ttft: Statistic,
    out: Path | None,
    as_json: bool,
) -> int:
    if reference is None and overrides:
        raise InputError("changes a scenario", where="--set", remedy="name one with --scenario")
    base = None if reference is None else load_scenario(reference, overrides)
    with bar("Simulating measured runs") as progress:
        validation = validate_benchmark(
            path, scenario=base, ttft_statistic=ttft, progress=progress
        )
    if out is not None:
        write_benchmark_files(validation, out)
    if as_json:
        emit_json(validation.to_json())
        return ANSWER
    _show(_benchmark_answer(validation), benchmark_tables(validation), validation.notes, out)
    return ANSWER


def _show(
    answer: str, tables: Iterable[ErrorTable], notes: Iterable[str], out: Path | None
) -> None:
    page = Page()
    page.line(answer, style="bold")
    for note in notes:
        page.line(f"Note: {note}.")
    for table in tables:
        if table.rows:
            page.table(_drawn(table))
    if out is not None:
        page.line()
        page.line(f"Written to {out}: rows.csv and parity.html")
    page.show()


def _benchmark_answer(validation: BenchmarkValidation) -> str:
    stats = validation.quantities(validation.sound)
    names = {"tpot": "TPOT", "ttft": "TTFT", "itl": "ITL", "output_tokens_per_s": "throughput"}
    errors = {label: stats[name].median_ape for name, label in names.items()}
    return _sentence(len(validation.sound), validation.rows, errors)


def _answer(validation: Validation) -> str:
    overall = validation.overall
    errors = {"TPOT": overall.tpot.median_ape, "TTFT": overall.ttft.median_ape}
    return _sentence(len(validation.sound), validation.rows, errors)


def _sentence(sound: int, rows: int, errors: Mapping[str, float | None]) -> str:
    compared = f"{sound} of {counted(rows, 'run')} compared"
    parts = [
        f"{name} off by {percent(error)}" for name, error in errors.items() if error is not None
    ]
    if not parts:
        return f"{compared}."
    listed = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
    return f"{compared}: at the median {listed}."


def _drawn(table: ErrorTable) -> Table:
    words = {table.columns[0], "first case"}
    heads = (Column(name, "left" if name in words else "right") for name in table.columns)
    return Table(table.title, tuple(heads), table.rows)
