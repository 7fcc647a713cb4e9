"""From a file to documents: JSON, JSON Lines and what people call either; nothing crashes here."""

import json
from collections.abc import Mapping
from pathlib import Path

from sim.errors import InputError

Document = Mapping[str, object]


def documents(text: str, path: Path) -> list[Document]:
    """Return the JSON objects of a file: one, a list of them, or one a line.

    Bare `Infinity` and `NaN`, which Python's own writer leaves behind, are read as such.
    """
    try:
        whole = json.loads(text)
    except RecursionError:
        raise InputError("not valid JSON: nested too deeply", where=str(path)) from None
    except (json.JSONDecodeError, ValueError) as error:
        lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) > 1 and _parses(lines[0][1]):
            return [_object(line, n, path) for n, line in lines]
        message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(
            f"not valid JSON: {message}{place}; is it cut off?", where=str(path)
        ) from None
    found = whole if isinstance(whole, list) else [whole]
    if not found or not all(isinstance(one, dict) for one in found):
        raise InputError("holds no JSON objects, so no benchmark result", where=str(path))
    return list(found)


def _parses(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _object(line: str, place: int, path: Path) -> Document:
    if not _parses(line):
        raise InputError(
            f"line {place} is not a JSON object; is the file cut off?", where=str(path)
        )
    found: Document = json.loads(line)
    return found
