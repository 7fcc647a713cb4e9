"""Timings on disk: one Parquet file, written in full or not at all."""

import io
from pathlib import Path
from typing import Final

from calibration.timings.schema import VERSION, VERSION_KEY
from calibration.timings.table import Timings, checked
from sim.errors import InputError
from sim.report.files import check_file, write_whole

_MAGIC: Final = b"PAR1"
"""How a Parquet file begins and ends."""


def read_timings(path: Path) -> Timings:
    """Return the timings of a Parquet file, or say in one sentence why there are none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    where = str(path)
    if path.is_dir():
        raise InputError("this is a directory, not a file", where=where)
    if not path.is_file():
        raise InputError("there is no such file", where=where)
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    stated = (table.schema.metadata or {}).get(VERSION_KEY.encode())
    if stated is not None and stated != str(VERSION).encode():
        raise InputError(
            f"follows version {stated.decode()} of the timings schema, and this program reads"
            f" version {VERSION}",
            where=where,
        )
    return checked(table, where)


def _unreadable(path: Path, error: Exception) -> InputError:
    """Say what is there instead of a Parquet file, by its first and last bytes."""
    anew = "write it anew with `paretoken calibrate import` or `collect`"
    try:
        content = path.read_bytes()
    except OSError as refused:
        reason = refused.strerror or type(refused).__name__
        return InputError(f"the file cannot be read ({reason})", where=str(path))
    if not content:
        return InputError("the file is empty", where=str(path), remedy=anew)
    if not content.startswith(_MAGIC):
        return InputError(
            "is no Parquet file",
            where=str(path),
            remedy="a CSV becomes one with `paretoken calibrate import csv FILE`",
        )
    if not content.endswith(_MAGIC):
        return InputError("this Parquet file is cut off", where=str(path), remedy=anew)
    first = str(error).partition("\n")[0] or type(error).__name__
    return InputError(
        f"this Parquet file is damaged and cannot be read ({first})", where=str(path), remedy=anew
    )


def write_timings(timings: Timings, path: Path) -> Path:
    """Write timings to a Parquet file; a failure leaves nothing behind."""
    import pyarrow.parquet as pq

    table = timings.table.replace_schema_metadata({VERSION_KEY: str(VERSION)})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    check_file(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_whole(path, buffer.getvalue())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = f"the file cannot be written ({reason})"
        raise InputError(problem, where=str(path), remedy="name another") from None
