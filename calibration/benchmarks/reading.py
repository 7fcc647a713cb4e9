"""Tell a table of closed loops, a table of runs and a tool's own result apart."""

from pathlib import Path
from typing import Final

from calibration.benchmarks.table import is_table_of_runs, read_table
from calibration.cells import header_in, read_cells
from calibration.importers import Benchmark, Unusable, is_table, read_benchmark, unknown_format
from calibration.importers.printed import recognises_text
from calibration.validate.replay import Statistic
from calibration.validate.runs import CASE, REQUIRED
from sim.errors import InputError
from sim.yaml_files import read_text

_LEAST_KNOWN: Final = 3


def header_of(path: Path) -> list[str] | None:
    """Return the header of a CSV file; None for a file that does not look like one."""
    if not path.is_file() or path.suffix.lower() in {".json", ".jsonl"}:
        return None
    return header_in(read_text(path))


def is_benchmark(path: Path) -> bool:
    """Tell whether a file is no table of closed loops, which has a reader of its own."""
    if path.is_dir():
        raise InputError("this is a directory, not a file", where=str(path))
    header = header_of(path)
    if header is None:
        return path.is_file()
    return is_table_of_runs(header) or is_table(header) or _is_stranger(header)


def _is_stranger(header: list[str]) -> bool:
    """Tell whether a table has so few of the columns of closed loops that it is none."""
    return len(set(header) & {*REQUIRED, CASE}) < _LEAST_KNOWN


def read_file(path: Path, statistic: Statistic) -> tuple[Benchmark | Unusable, ...]:
    """Return the runs of a result file, or of a table of runs."""
    header = header_of(path)
    if header is not None and is_table_of_runs(header):
        return read_table(path, statistic)
    if header is not None and not is_table(header) and not recognises_text(read_text(path)):
        raise unknown_format(path, read_cells(path)[0])
    return read_benchmark(path)
