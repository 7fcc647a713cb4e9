"""A kernel that never ends holds Python in C, where Ctrl-C does not reach it: a watch ends it."""

import os
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

LONGEST_S = 180.0
"""No kernel of the plan takes so long, with its inputs and all its repetitions."""
STUCK = 3
"""Exit status after a kernel that did not end."""


class Watch:
    """Ends the process where one kernel takes longer than any, and keeps what was measured."""

    def __init__(
        self,
        rows: list[dict[str, Any]],
        keep: Callable[[list[dict[str, Any]]], None] | None,
        longest_s: float = LONGEST_S,
    ) -> None:
        self.rows, self.keep, self.longest_s, self.what = rows, keep, longest_s, ""
        self.timer: threading.Timer | None = None

    def __enter__(self) -> "Watch":  # noqa: PYI034  # `Self` is younger than many a machine
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.end()

    def begin(self, what: str) -> None:
        """Start to watch one kernel."""
        self.end()
        self.what, self.timer = what, threading.Timer(self.longest_s, self.stuck)
        self.timer.daemon = True
        self.timer.start()

    def end(self) -> None:
        """Stop watching: it ended."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def stuck(self) -> None:
        """Keep the rows and end the process, from the timer's thread."""
        if self.keep is not None and self.rows:
            self.keep(list(self.rows))
        sys.stderr.write(
            f"\n{self.what} did not end in {self.longest_s:.0f} s: {len(self.rows)} kernels were"
            " measured before and are kept.\n"
        )
        sys.stderr.flush()
        os._exit(STUCK)
