"""Exit codes, and the one way to complain."""

import sys
from typing import Final

ANSWER: Final = 0
ANSWER_IS_NO: Final = 1
"""Overloaded, or a target missed."""
WRONG_INPUT: Final = 2
INTERRUPTED: Final = 130
READER_GONE: Final = 141
"""Whoever read our output has left (`| head`): as shells count a broken pipe."""


def complain(sentence: str, code: int) -> int:
    """Print one sentence on stderr and return the exit code."""
    print(f"paretoken: {sentence}", file=sys.stderr)
    return code
