"""What goes to stdout, and what shows on a terminal's stderr while it takes long."""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import typer

from app.cli.exits import READER_GONE

_PATIENCE_S: Final = 1.0


def emit(text: str) -> None:
    """Write to stdout; where the reader has left, leave as well, without a word."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_GONE) from None
    except UnicodeEncodeError:
        sys.stdout.buffer.write(text.encode(sys.stdout.encoding, errors="replace"))
        sys.stdout.flush()


def emit_json(document: Mapping[str, object]) -> None:
    """Print one JSON object; what the reader's encoding lacks is escaped, never lost."""
    from sim.report.document import to_json

    text = to_json(document)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2) + "\n"
    emit(text)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on a terminal's stderr that something runs, once it has taken a second."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(what)
    timer = threading.Timer(_PATIENCE_S, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a callback that moves a bar on a terminal's stderr; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)
