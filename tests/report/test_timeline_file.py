import csv
import io
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sim.errors import InputError
from sim.metrics.timeline import timeline
from sim.report.timeline import timeline_bytes
from sim.run import run
from sim.scenario import load_scenario


def test_csv_and_parquet_hold_the_same_table() -> None:
    outcome = run(load_scenario("chat-70b-h100", ["run.requests=100"]), intervals=False)
    table = timeline(outcome.simulation, bin_s=1.0)
    text = timeline_bytes(outcome, Path("a.csv"), bin_s=1.0).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    stored = pq.read_table(io.BytesIO(timeline_bytes(outcome, Path("a.parquet"), bin_s=1.0)))
    assert stored.column_names == list(rows[0]) == list(table.columns)
    assert len(rows) == stored.num_rows == len(table)
    for name, column in table.columns.items():
        numbers = [float(row[name]) if row[name] else np.nan for row in rows]
        np.testing.assert_allclose(numbers, column, rtol=1e-8)
        parquet = stored.column(name).to_pylist()
        assert [value is None for value in parquet] == np.isnan(column).tolist()


def test_a_name_that_tells_no_form_is_refused() -> None:
    outcome = run(load_scenario("chat-70b-h100", ["run.requests=10"]), intervals=False)
    with pytest.raises(InputError, match=r"\.parquet or \.csv"):
        timeline_bytes(outcome, Path("timeline.xlsx"))
