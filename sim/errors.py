"""Errors that a user can mend: each says what, where, what was found, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches

from sim.units import GB


class SimError(Exception):
    """Base of everything that is the input's fault; the command line turns it into exit code 2."""


class InputError(SimError):
    """A file or value that cannot be used.

    The message is one sentence; `where` is a file or a dotted key such as `workload.arrivals`.
    """

    def __init__(
        self, problem: str, *, where: str | None = None, remedy: str | None = None
    ) -> None:
        self.problem, self.where, self.remedy = problem, where, remedy
        text = f"{where}: {problem}" if where else problem
        super().__init__(f"{text}; {remedy}" if remedy else text)


class UnknownNameError(InputError):
    """A name that no catalog entry, profile or file carries; suggests the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name = kind, name
        names = sorted(known)
        lowered = {entry.lower().replace("-", "_"): entry for entry in names}
        wanted = name.lower().replace("-", "_")
        # What begins with the name comes first: `A100` means one of its four versions.
        begin = [key for key in lowered if wanted and key.startswith(wanted)]
        close = begin[:6] or get_close_matches(wanted, lowered, n=3, cutoff=0.5)
        near = [lowered[key] for key in close]
        hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(names)}"
        super().__init__(
            f"no {kind} named `{name}` and no file at that path", where=kind, remedy=hint
        )


class DoesNotFitError(SimError):
    """The deployment needs more memory per GPU than the GPU offers."""

    def __init__(
        self,
        *,
        what: str,
        need_bytes: float,
        have_bytes: float,
        remedy: str,
        draft_bytes: float = 0.0,
    ) -> None:
        self.need_bytes, self.have_bytes = need_bytes, have_bytes
        drafter = f", {draft_bytes / GB:.1f} of them for its drafter," if draft_bytes else ""
        super().__init__(
            f"{what} needs {need_bytes / GB:.1f} GB per GPU{drafter} but {have_bytes / GB:.1f} GB"
            f" are available ({(need_bytes - have_bytes) / GB:.1f} GB too much); {remedy}"
        )
