"""Timings on disk: one Parquet file, written in full or not at all."""

import io
from pathlib import Path

from calibration.timings.schema import VERSION, VERSION_KEY
from calibration.timings.table import Timings, checked
from sim.errors import InputError
from sim.report.files import write_whole


def read_timings(path: Path) -> Timings:
    """Return the timings of a Parquet file, or say in one sentence why there are none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    where = str(path)
    if not path.is_file():
        raise InputError("there is no such file", where=where)
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"cannot be read as Parquet ({first[:120]})",
            where=where,
            remedy="write it anew with `paretoken calibrate import` or `collect`",
        ) from None
    stated = (table.schema.metadata or {}).get(VERSION_KEY.encode())
    if stated is not None and stated != str(VERSION).encode():
        raise InputError(
            f"follows version {stated.decode()} of the timings schema, and this program reads"
            f" version {VERSION}",
            where=where,
        )
    return checked(table, where)


def write_timings(timings: Timings, path: Path) -> Path:
    """Write timings to a Parquet file; a failure leaves nothing behind."""
    import pyarrow.parquet as pq

    table = timings.table.replace_schema_metadata({VERSION_KEY: str(VERSION)})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_whole(path, buffer.getvalue())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = f"the file cannot be written ({reason})"
        raise InputError(problem, where=str(path), remedy="name another") from None
