"""An outcome as a folder of files: requests, JSON, report, bill, and the scenario to run again.

Everything is written beside its place under a temporary name and moved there when complete, so
that an interrupted run leaves no half of a file.
"""

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import yaml

from sim.errors import InputError
from sim.report.document import outcome_document, scenario_document, to_json
from sim.report.markdown import outcome_markdown
from sim.report.requests import requests_parquet
from sim.run import Outcome

FILES: Final[Mapping[str, Callable[[Outcome], bytes]]] = {
    "outcome.json": lambda outcome: to_json(outcome_document(outcome)).encode(),
    "report.md": lambda outcome: outcome_markdown(outcome).encode(),
    "requests.parquet": requests_parquet,
    "costs.csv": lambda outcome: costs_csv(outcome).encode(),
    "scenario.yaml": lambda outcome: scenario_yaml(outcome).encode(),
}
"""What is written, and how each file is made."""


def check_folder(folder: Path) -> None:
    """Raise `InputError` where results cannot be written, before anybody waits for them."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InputError(
            f"{existing} is a file, not a folder", where=str(folder), remedy="name another"
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(
            "the folder cannot be written (no permission)",
            where=str(folder),
            remedy="name another",
        )


def write_outcome(outcome: Outcome, folder: Path) -> tuple[Path, ...]:
    """Write every file of an outcome and return their paths."""
    return write_files(folder, {name: make(outcome) for name, make in FILES.items()})


def write_files(folder: Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files by name into a folder and return their paths; the folder is made if need be.

    Raises `InputError` where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone_in(folder):
            return tuple(write_whole(folder / name, content) for name, content in contents.items())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"the folder cannot be written ({reason})", where=str(folder), remedy="name another"
        ) from None


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Let one run at a time write there, so that its files belong together.

    The lock goes with the process. Where the system has none (Windows), runs are not kept apart.
    """
    try:
        import fcntl
    except ImportError:  # pragma: no cover - no such module on Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file so that it is there in full or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path


def _umask() -> int:
    """Return the mask of new files; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def costs_csv(outcome: Outcome) -> str:
    """Return the bill as CSV; without a price it has a head and no rows."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("item", "usd_per_hour", "usd_per_month", "share"))
    for line in () if outcome.cost is None else outcome.cost.lines:
        rows.writerow((line.item, line.usd_per_hour, line.usd_per_month, line.share))
    return text.getvalue()


def scenario_yaml(outcome: Outcome) -> str:
    """Return the scenario with overrides and defaults written out; running it gives the same."""
    document = scenario_document(outcome.scenario)
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
