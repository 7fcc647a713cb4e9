"""What a validation leaves in a folder: every row as CSV, and a parity plot."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from calibration.validate.validation import Validation
from sim.report import files
from sim.report.figures.parity import ParityPoint, parity_figure
from sim.report.figures.template import CONFIG

ROW_COLUMNS: Final = (
    "case",
    "predicted_ttft_ms",
    "predicted_tpot_ms",
    "ttft_ms",
    "tpot_ms",
    "seconds_to_simulate",
)


def write_files(validation: Validation, folder: Path) -> tuple[Path, ...]:
    """Write `rows.csv` and `parity.html` into a folder, made if need be; return their paths."""
    contents = {"rows.csv": rows_csv(validation), "parity.html": parity_page(validation)}
    return write_all(contents, folder, main="rows.csv")


def write_all(
    contents: Mapping[str, str], folder: Path, *, main: str | None = None
) -> tuple[Path, ...]:
    """Write files by name into a folder, `main` last; return their paths."""
    encoded = {name: text.encode() for name, text in contents.items()}
    return files.write_files(folder, encoded, main=main)


def rows_csv(validation: Validation) -> str:
    """Return every simulated run with its prediction, in ms; empty where a run has no TPOT."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(ROW_COLUMNS)
    for row in validation.compared:
        run, predicted = row.run, row.predicted
        figures = (predicted.ttft_ms, predicted.tpot_ms, run.ttft_ms, run.tpot_ms)
        cells = ["" if value is None else f"{value:.6g}" for value in figures]
        writer.writerow([run.case, *cells, f"{predicted.seconds_to_simulate:.4f}"])
    return text.getvalue()


def parity_page(validation: Validation) -> str:
    """Return a page with predicted against measured TPOT and TTFT, complete in itself."""
    return parity_pages(_points(validation))


def parity_pages(plots: Iterable[tuple[str, list[ParityPoint]]]) -> str:
    """Return one page of parity plots, each a quantity with its points."""
    parts = []
    for place, (quantity, points) in enumerate(plots):
        drawn = parity_figure(points, quantity=quantity)
        parts.append(
            drawn.to_html(
                config=CONFIG,
                full_html=False,
                include_plotlyjs=place == 0,
                div_id=f"parity-{quantity.lower()}",
            )
        )
    head = '<meta charset="utf-8"><title>Predicted against measured</title>'
    lead = "<p>Predicted against measured; shaded: within 20 % of the measurement.</p>"
    style = "font-family: system-ui, sans-serif; max-width: 900px; margin: 2em auto"
    body = f'<body style="{style}">{lead}{"".join(parts)}</body>'
    return f"<!doctype html><html><head>{head}</head>{body}</html>"


def _points(validation: Validation) -> Iterator[tuple[str, list[ParityPoint]]]:
    """Sound rows only: suspect ones are in no figure."""
    tpot = [
        ParityPoint(row.run.case, row.run.engine, row.run.tpot_ms, row.predicted.tpot_ms)
        for row in validation.sound
        if row.run.tpot_ms is not None and row.predicted.tpot_ms is not None
    ]
    ttft = [
        ParityPoint(row.run.case, row.run.engine, row.run.ttft_ms, row.predicted.ttft_ms)
        for row in validation.sound
    ]
    yield "TPOT", tpot
    yield "TTFT", ttft
