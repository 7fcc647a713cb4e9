"""An outcome as a folder of files: requests, JSON, report, bill, and the scenario to run again.

Everything is written into a hidden folder first and moved to its place when complete, so that an
interrupted run leaves no half of a file. The main file goes first and comes last: a folder that
has it has all files, and they are of one run.
"""

import csv
import io
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
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


def check_file(path: Path) -> None:
    """Raise `InputError` where a file cannot be written, before anybody waits for it."""
    if path.is_dir():
        raise InputError(
            "this is a folder, not a file", where=str(path), remedy="name a file in it"
        )
    check_folder(path.absolute().parent)


MAIN: Final = "outcome.json"
"""The file that is moved last: where it is missing, the folder of an outcome is not complete."""
_STAGE: Final = ".paretoken-writing-"
"""How the hidden folders begin in which files wait until all of them are written."""


def write_outcome(outcome: Outcome, folder: Path) -> tuple[Path, ...]:
    """Write every file of an outcome and return their paths."""
    return write_files(folder, {name: make(outcome) for name, make in FILES.items()}, main=MAIN)


def write_files(
    folder: Path, contents: Mapping[str, bytes], *, main: str | None = None
) -> tuple[Path, ...]:
    """Write files by name into a folder and return their paths; folders are made if need be.

    Names may hold a folder (`figures/a.svg`). Where files of an earlier run are replaced, `main`
    (one of the names) is removed first and put in place last, so that a reader who finds it finds
    files of one run, whenever the writer was killed. Raises `InputError` where the folder cannot
    be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone_in(folder) as alone:
            if alone:
                _sweep(folder, contents)
            _replace_all(folder, contents, main)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"the folder cannot be written ({reason})", where=str(folder), remedy="name another"
        ) from None
    return tuple(folder / name for name in contents)


def _replace_all(folder: Path, contents: Mapping[str, bytes], main: str | None) -> None:
    """Write all files aside, then move one after the other, `main` last."""
    stage = Path(tempfile.mkdtemp(dir=folder, prefix=_STAGE))
    try:
        for name, content in contents.items():
            (stage / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (stage / name).write_bytes(content)
        others = [name for name in contents if name != main]
        if main is not None and others:
            (folder / main).unlink(missing_ok=True)
        for name in [*others, *([] if main is None else [main])]:
            (stage / name).replace(folder / name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _sweep(folder: Path, names: Iterable[str]) -> None:
    """Remove what writers left who were killed.

    Whoever writes these names holds the lock meanwhile, so that what is there now is nobody's.
    """
    for entry in folder.iterdir():
        if entry.name.startswith(_STAGE):
            shutil.rmtree(entry, ignore_errors=True)
        elif any(re.fullmatch(rf"\.{re.escape(name)}\.\w{{8}}", entry.name) for name in names):
            entry.unlink(missing_ok=True)  # of `write_whole`


@contextmanager
def _alone_in(folder: Path) -> Iterator[bool]:
    """Let one run at a time write there, so that its files belong together.

    The lock goes with the process. False: the system has none (Windows, some network file
    systems, a folder that may be written but not read), and runs are not kept apart.
    """
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, PermissionError):
        yield False
        return
    try:
        alone = False
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
            alone = True
        yield alone
    finally:
        os.close(handle)


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file so that it is there in full or not at all.

    What a writer of the same file left who was killed is cleared away. A device or a pipe
    (`/dev/null`, `/dev/stdout`) is written to, not replaced.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(content)
        return path
    with _alone_in(path.parent) as alone:
        if alone:
            _sweep(path.parent, [path.name])
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
