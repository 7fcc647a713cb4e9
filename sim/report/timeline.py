"""The course of a run as a table that other tools read: CSV or Parquet, by the file's name."""

import csv
import io
from pathlib import Path
from typing import Final

import numpy as np

from sim.errors import InputError
from sim.metrics.timeline import Timeline, timeline
from sim.run import Outcome

FORMS: Final = (".parquet", ".csv")


def check_timeline_name(path: Path) -> None:
    """Raise `InputError` where the name does not say in which form to write."""
    if path.suffix.lower() not in FORMS:
        raise InputError(
            f"expected a name that ends in .parquet or .csv, found `{path.name}`",
            where="--timeline",
            remedy="for example --timeline timeline.parquet",
        )


def timeline_bytes(outcome: Outcome, path: Path, *, bin_s: float | None = None) -> bytes:
    """Return the timeline of a run in the form that the name asks for; NaN is null or empty."""
    check_timeline_name(path)
    table = timeline(outcome.simulation, bin_s=bin_s)
    return _csv(table) if path.suffix.lower() == ".csv" else _parquet(table)


def _csv(table: Timeline) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(table.columns)
    columns = [
        ["" if value != value else f"{value:.9g}" for value in column.tolist()]  # noqa: PLR0124
        for column in table.columns.values()
    ]
    rows.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def _parquet(table: Timeline) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        name: pa.array(np.ascontiguousarray(column), from_pandas=True)
        for name, column in table.columns.items()
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(arrays), sink, compression="zstd")
    return sink.getvalue()
