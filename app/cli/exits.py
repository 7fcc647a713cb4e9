"""Exit codes, and how an error becomes one sentence."""

import sys
from typing import Final

ANSWER: Final = 0
ANSWER_IS_NO: Final = 1
"""Overloaded, a target missed, or a figure not as precise as asked."""
WRONG_INPUT: Final = 2
INTERRUPTED: Final = 130
READER_GONE: Final = 141
"""Whoever read our output has left (`| head`): as shells count a broken pipe."""


def complain(sentence: str, code: int) -> int:
    """Print one sentence on stderr and return the exit code."""
    print(f"paretoken: {sentence}", file=sys.stderr)
    return code


def usage_sentence(error: Exception) -> str:
    """Return what is wrong with the options, in one line, and where help is found."""
    message = getattr(error, "message", "") or str(error)
    text = getattr(error, "format_message", lambda: message)()
    context = getattr(error, "ctx", None)
    command = "paretoken" if context is None else context.command_path
    text = " ".join(text.split()).rstrip(".").replace("Value error, ", "")
    return f"{text}; see {command} --help"


def error_sentence(error: Exception) -> str | None:
    """Return what the user should know of an error, or None where it is our own mistake."""
    from sim.errors import SimError

    if isinstance(error, SimError):
        return " ".join(str(error).split())
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return f"{error.filename}: {reason}" if error.filename else reason
    return None
