"""Read a table of measured serving runs: one row a run, checked before anything is simulated."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from calibration.cells import check_shape, named, read_table
from calibration.importers.gpus import gpu_name
from calibration.importers.names import engine_name, stand_in, weights_name
from calibration.validate.example import example_row
from calibration.validate.own import OPTIONAL, Own, own_of
from sim.errors import InputError
from sim.precision import PRECISIONS

REQUIRED: Final = (
    "model",
    "gpu",
    "engine",
    "weights",
    "tensor_parallel",
    "concurrency",
    "input_tokens",
    "output_tokens",
    "ttft_ms",
    "tpot_ms",
)
"""Columns that the replay needs; those of `own.py` may stand beside them."""
KNOWN_WEIGHTS: Final = (*PRECISIONS, "fp4")
"""Words for the weights; `fp4` is whichever of its formats the model is published in."""
CASE: Final = "case"
"""Optional column: what a run is called; else its line."""
WIDTHS: Final = ("expert_parallel", "attention_data_parallel")
"""Optional columns; 1 where a table or a cell says nothing."""
SUSPECT: Final = "suspect"
"""Optional column: 1 marks a row whose source looks wrong; it is reported apart."""
MEASURED_ON: Final = "measured_on"
"""Optional column: date of the run, or of the collection that it is in (2026-04-27)."""

_MOST_TOKENS: Final = 10_000_000
_MOST_PROMPTS: Final = 10_000_000
_MOST_USERS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run of a serving benchmark: how it was driven, and the latencies that it printed."""

    case: str
    model: str
    gpu: str
    engine: str
    weights: str
    tensor_parallel: int
    expert_parallel: int
    attention_data_parallel: int
    concurrency: int
    """Users in the closed loop."""
    input_tokens: int
    """Nominal prompt length: the longest, or the mean, as `recipes` says of the run."""
    output_tokens: int
    """Nominal answer length, likewise."""
    ttft_ms: float
    tpot_ms: float | None
    """None where the answers have one token."""
    suspect: bool
    measured_on: str = ""
    """ISO date; empty where the table does not say."""
    named: str = ""
    """What the table calls the model; empty: as `model`."""
    own: Own = field(default_factory=Own)
    """What the row says itself of the server's settings and of the load."""


@dataclass(frozen=True, slots=True)
class RunsFile:
    """A table of measured runs, read once."""

    runs: tuple[MeasuredRun, ...]
    unread: tuple[str, ...]
    """Columns that nothing here reads."""
    end: str | None
    """What a reader should know of the end of the file."""


def read_runs(path: Path) -> tuple[MeasuredRun, ...]:
    """Return the rows of a CSV file, or raise one sentence that names the line and the column."""
    return read_runs_file(path).runs


def read_runs_file(path: Path) -> RunsFile:
    """Return the rows as `read_runs` does, with what a reader has to know of the file."""
    table = read_table(path)
    header, rows = table.header, table.rows
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        plural = "s are" if len(missing) > 1 else " is"
        more = [name for name in header if name not in REQUIRED]
        raise InputError(
            f"column{plural} missing: {names}" + (f" (found {named(more)})" if more else ""),
            where=str(path),
            remedy="a table of measured runs has one row a run (docs/calibration.md)",
        )
    check_shape(path, header, rows, example=example_row(header))
    found = (_Row(path, line, dict(zip(header, row, strict=True))) for line, row in rows)
    known = {*REQUIRED, *OPTIONAL, *WIDTHS, CASE, SUSPECT, MEASURED_ON}
    unread = tuple(name for name in header if name and name not in known)
    return RunsFile(tuple(row.run() for row in found), unread, table.end)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of text on its way to a `MeasuredRun`."""

    path: Path
    line: int
    cells: Mapping[str, str]

    def run(self) -> MeasuredRun:
        output_tokens = self.whole("output_tokens", _MOST_TOKENS)
        one_token = output_tokens == 1 and not self.cells["tpot_ms"]
        return MeasuredRun(
            case=self.cells.get(CASE) or f"line {self.line}",
            model=stand_in(self.text("model")) or self.text("model"),
            gpu=gpu_name(self.text("gpu"))[0] or "",
            engine=engine_name(self.text("engine")) or "",
            weights=weights_name(self.text("weights")) or "",
            tensor_parallel=self.whole("tensor_parallel", _MOST_USERS),
            expert_parallel=self.width("expert_parallel"),
            attention_data_parallel=self.width("attention_data_parallel"),
            concurrency=self.whole("concurrency", _MOST_USERS),
            input_tokens=self.whole("input_tokens", _MOST_TOKENS),
            output_tokens=output_tokens,
            ttft_ms=self.positive("ttft_ms"),
            tpot_ms=None if one_token else self.positive("tpot_ms"),
            suspect=self.flag(SUSPECT),
            named=self.text("model"),
            measured_on=self.cells.get(MEASURED_ON, ""),
            own=own_of(
                self.cells, num_prompts=self.prompts(), where=f"{self.path}, line {self.line}"
            ),
        )

    def text(self, name: str) -> str:
        if not self.cells[name]:
            raise self.fault(name, "is empty")
        return self.cells[name]

    def positive(self, name: str) -> float:
        """A finite number above zero."""
        value = self._number(name)
        if value is None or not math.isfinite(value) or value <= 0:
            raise self.fault(name, f"should be a number above 0, found {self.cells[name]!r}")
        return value

    def whole(self, name: str, most: int) -> int:
        """A whole number from 1 to `most`; `8.0` is one too (spreadsheets write it)."""
        value = self._number(name)
        if value is None or not 1 <= value <= most or value != int(value):
            wanted = f"should be a whole number from 1 to {most:,}"
            raise self.fault(name, f"{wanted}, found {self.cells[name]!r}")
        return int(value)

    def width(self, name: str) -> int:
        """GPUs or groups side by side; one where nothing is said."""
        return self.whole(name, _MOST_USERS) if self.cells.get(name) else 1

    def prompts(self) -> int | None:
        """`num_prompts`, where the row says it."""
        name = "num_prompts"
        return self.whole(name, _MOST_PROMPTS) if self.cells.get(name) else None

    def flag(self, name: str) -> bool:
        """0 or 1; a file without the column has no marks."""
        text = self.cells.get(name, "0").lower()
        if text in {"0", "0.0", "false", ""}:
            return False
        if text in {"1", "1.0", "true"}:
            return True
        raise self.fault(name, f"should be 0 or 1, found {self.cells[name]!r}")

    def _number(self, name: str) -> float | None:
        try:
            return float(self.cells[name])
        except ValueError:
            return None

    def fault(self, name: str, problem: str) -> InputError:
        return InputError(f"line {self.line}: `{name}` {problem}", where=str(self.path))
