"""A validated benchmark as tables, and as the files that it leaves in a folder."""

import csv
import io
from pathlib import Path
from typing import Final

from calibration.benchmarks.result import BenchmarkValidation, Beside, Driven
from calibration.importers.record import FIGURES
from calibration.validate.errors import ErrorStats
from calibration.validate.files import parity_pages, write_all
from calibration.validate.tables import ErrorTable, refusals_by_reason
from sim.report.figures.parity import ParityPoint
from sim.units import counted

_MOST_RUNS: Final = 12
_SHOWN: Final = ("ttft_mean_ms", "tpot_mean_ms", "output_tokens_per_s", "itl_mean_ms")
_MOST_COLUMNS: Final = 3
COLUMNS: Final = ("figure", "n", "mean", "median", "p90", "bias")


def benchmark_tables(validation: BenchmarkValidation) -> tuple[ErrorTable, ...]:
    """Return each run measured and predicted, errors by figure and by group, and refusals."""
    tables = [_runs(validation), _by_figure(validation)]
    if len(validation.sound) > 1:
        tables.append(_by_group(validation))
    if validation.refused:
        tables.append(refusals_by_reason(validation.refused))
    return tuple(tables)


def _runs(validation: BenchmarkValidation) -> ErrorTable:
    """Measured → predicted of the figures that most files hold."""
    named = {name for row in validation.compared for name in row.errors}
    ordered = dict.fromkeys((*_SHOWN, *FIGURES))
    shown = [name for name in ordered if name in named][:_MOST_COLUMNS]
    rows = tuple(
        (f"{place}", _load(row), *(_cell(row, name) for name in shown))
        for place, row in enumerate(validation.compared[:_MOST_RUNS], 1)
    )
    left = len(validation.compared) - len(rows)
    more = f" (the first {len(rows)}; {left} more in rows.csv)" if left else ""
    heads = [
        name.replace("_per_s", "/s").replace("output_", "").replace("_", " ") for name in shown
    ]
    return ErrorTable(f"Measured → predicted{more}", ("run", "load", *heads), rows)


def _load(row: Beside) -> str:
    apart = " *" if row.suspect else ""
    return f"{load_label(row.predicted)}{apart}"


def load_label(driven: Driven) -> str:
    """Return the load that was simulated, in a word or two."""
    if driven.requests_per_s is not None:
        return f"{driven.requests_per_s:g}/s"
    return "all at once" if driven.users is None else counted(driven.users, "user")


def _cell(row: Beside, name: str) -> str:
    if name not in row.errors:
        return "–"
    measured, predicted = row.benchmark.figures[name], row.predicted.figures[name]
    return f"{figure(measured)} → {figure(predicted)}"


def figure(value: float) -> str:
    """Return a figure to three digits, large ones in full.

    >>> figure(16482.4), figure(8.5649), figure(373.01)
    ('16,482', '8.56', '373')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _by_figure(validation: BenchmarkValidation) -> ErrorTable:
    rows = tuple(_errors(name, stats) for name, stats in validation.by_figure.items())
    return ErrorTable("Error by figure", COLUMNS, rows)


def _by_group(validation: BenchmarkValidation) -> ErrorTable:
    rows = [
        _errors(f"{group}: {quantity}", stats)
        for axis in ("model", "gpu", "engine", "concurrency_band", "requests_per_s")
        for group, by_quantity in validation.by[axis].items()
        for quantity, stats in by_quantity.items()
        if stats.n and quantity in {"tpot", "ttft"}
    ]
    return ErrorTable("Error of TPOT and TTFT by group", ("group", *COLUMNS[1:]), tuple(rows))


def _errors(name: str, stats: ErrorStats) -> tuple[str, ...]:
    if stats.mean_ape is None or stats.median_ape is None or stats.p90_ape is None:
        return (name, str(stats.n), *("–",) * 4)
    sizes = (stats.mean_ape, stats.median_ape, stats.p90_ape)
    bias = stats.median_bias or 0.0
    return (name, str(stats.n), *(f"{size:.1%}" for size in sizes), f"{bias:+.1%}")


def write_benchmark_files(validation: BenchmarkValidation, folder: Path) -> tuple[Path, ...]:
    """Write `rows.csv` and `parity.html` into a folder, made if need be; return their paths."""
    contents = {"rows.csv": benchmark_rows_csv(validation), "parity.html": _parity(validation)}
    return write_all(contents, folder)


def benchmark_rows_csv(validation: BenchmarkValidation) -> str:
    """Return every simulated run with all its figures, predicted and measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    asked = f"ttft_{validation.ttft_statistic}_ms"
    main = {"ttft_ms": asked, "tpot_ms": "tpot_mean_ms"}
    writer.writerow(
        [
            *("case", *(f"predicted_{name}" for name in main), *main, "seconds_to_simulate"),
            *(f"{side}_{name}" for name in FIGURES for side in ("measured", "predicted")),
        ]
    )
    for row in validation.compared:
        measured, predicted = row.benchmark.figures, row.predicted.figures
        writer.writerow(
            [
                row.benchmark.case,
                *(_number(predicted.get(name)) for name in main.values()),
                *(_number(measured.get(name)) for name in main.values()),
                f"{row.predicted.seconds_to_simulate:.4f}",
                *(_number(side.get(name)) for name in FIGURES for side in (measured, predicted)),
            ]
        )
    return text.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _parity(validation: BenchmarkValidation) -> str:
    return parity_pages(
        (name.removesuffix("_ms"), parity_points(validation, name))
        for name in validation.by_figure
        if name.endswith("_mean_ms")
    )


def parity_points(validation: BenchmarkValidation, name: str) -> list[ParityPoint]:
    """Return one figure of each sound row, measured and predicted."""
    return [
        ParityPoint(
            row.benchmark.case,
            row.predicted.engine,
            row.benchmark.figures[name],
            row.predicted.figures[name],
        )
        for row in validation.sound
        if name in row.errors
    ]
