"""What is wrong with what a user wrote, in words: from pydantic's errors to short sentences."""

import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError

MOST: Final = 5
"""Problems that are told of one file: a file of another kind has one for every key."""
_SUBJECT: Final = re.compile(r"^(Input|String|Bytes|List|Tuple|Dictionary|Value|Set) should")

_DATE: Final = "a date as YYYY-MM or YYYY-MM-DD"
PATTERNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        r"^\d{4}(-\d{2}){0,2}$": f"{_DATE}, or a year as YYYY",
        r"^(\d{4}-(0[1-9]|1[0-2])(-\d{2})?|undated)$": f"{_DATE}, or `undated`",
        r"^(\d{4}-\d{2}(-\d{2})?|undated)$": f"{_DATE}, or `undated`",
        r"^[A-Za-z0-9][\w.-]*$": "a name of letters, digits, `.`, `_` and `-` that begins with a"
        " letter or a digit",
        r"^https://": "an address that begins with https://",
    }
)
"""What the patterns of text fields ask for, in words."""


def in_short(problems: Sequence[str]) -> str:
    """Return problems in one line, the first five in full.

    >>> in_short(["a", "b"]), in_short(list("abcdefgh"))
    ('a; b', 'a; b; c; d; e; and 3 more')
    """
    rest = len(problems) - MOST
    return "; ".join([*problems[:MOST], *([f"and {rest} more"] if rest > 0 else [])])


def read_as_numbers(valid: object, given: object, key: str = "") -> list[str]:
    """Name every number that was given as a truth value or as text: pydantic reads `true` as 1."""
    if valid is given:
        return []  # taken over as it is, and perhaps more than memory holds (see `_short`)
    if isinstance(valid, int | float) and not isinstance(valid, bool):
        if isinstance(given, bool | str):
            return [f"`{key}` should be a number, found {given!r}"]
        return []
    parts: list[tuple[object, object, str]] = []
    if isinstance(valid, BaseModel) and isinstance(given, Mapping):
        for name, field in type(valid).model_fields.items():
            written = next((known for known in (field.alias, name) if known in given), None)
            if written is not None:
                parts.append((getattr(valid, name), given[written], written))
    elif isinstance(valid, Mapping) and isinstance(given, Mapping):
        parts = [(valid[name], given[name], str(name)) for name in valid if name in given]
    elif isinstance(valid, list | tuple) and isinstance(given, list | tuple):
        rows = zip(valid, given, strict=False)
        parts = [(value, raw, str(place)) for place, (value, raw) in enumerate(rows)]
    below = (
        read_as_numbers(value, raw, f"{key}.{name}".lstrip(".")) for value, raw, name in parts
    )
    return [problem for problems in below for problem in problems]


def problems_of(model_cls: type[BaseModel], mapping: object, error: ValidationError) -> list[str]:
    """Return every problem of a mapping that is no `model_cls`, each in a short sentence."""
    suggested: set[str] = set()
    unknown: list[str] = []
    others: list[tuple[str, str]] = []
    for detail in error.errors(include_url=False):
        if _follows(detail):
            continue
        key = _dotted(detail["loc"], mapping)
        if detail["type"] != "extra_forbidden":
            others.append((key, _sentence(key, detail)))
            continue
        near = _nearest(str(detail["loc"][-1]), _known_keys(model_cls, detail["loc"][:-1]))
        hint = f"; did you mean `{near}`?" if near else ""
        unknown.append(f"`{key}` is not a key here{hint}")
        if near:
            suggested.add(f"{key.rpartition('.')[0]}.{near}".lstrip("."))
    # A misspelt key that is required would else be reported twice, as unknown and as missing.
    rest = [text for key, text in others if not (key in suggested and text.endswith("is missing"))]
    return list(dict.fromkeys(unknown + rest))


def _follows(detail: Mapping[str, Any]) -> bool:
    """Tell whether a list is only called too short since entries of it are wrong themselves."""
    context: Mapping[str, Any] = detail.get("ctx") or MappingProxyType({})
    given = detail["input"]
    return (
        detail["type"] == "too_short"
        and isinstance(given, list | tuple)
        and len(given) >= context["min_length"]
    )


def _sentence(key: str, detail: Mapping[str, Any]) -> str:
    named = f"`{key}` " if key else ""
    context: Mapping[str, Any] = detail.get("ctx") or MappingProxyType({})
    if detail["type"] == "missing":
        return f"{named}is missing"
    if detail["type"] == "union_tag_not_found":
        return f"{named}needs the key {str(context['discriminator']).replace(chr(39), '`')}"
    if detail["type"] == "union_tag_invalid":
        return f"{named}should be one of {context['expected_tags']}, found {context['tag']!r}"
    message = str(detail["msg"]).removeprefix("Value error, ")
    message = _SUBJECT.sub("should", message).partition(", unable to parse")[0]
    if detail["type"] in {"model_type", "model_attributes_type", "dict_type"}:
        message = "should hold keys with values"
    if detail["type"] in {"tuple_type", "list_type"}:
        message = "should be a list"
    if detail["type"] == "string_pattern_mismatch":
        message = f"should be {PATTERNS.get(str(context['pattern']), 'written in another form')}"
    if detail["type"] == "value_error":
        return f"{named}{message}"
    return f"{named}{message}, found {_short(detail['input'])}"


_REPR: Final = reprlib.Repr()
"""A few kilobytes at most: lists of lists by anchors may stand for more than memory holds."""
_REPR.maxlevel = 4
_REPR.maxlist = _REPR.maxdict = 6
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = 10_000


def _short(value: object, limit: int = 60) -> str:
    text = _REPR.repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _dotted(location: Sequence[int | str], mapping: Any) -> str:  # noqa: ANN401
    """Return the user's own key, without the tags of unions that pydantic mixes into its path."""
    parts: list[str] = []
    node = mapping
    for position, part in enumerate(location):
        last = position == len(location) - 1
        if _holds(node, part):
            node = node[part]
        elif not (last and isinstance(node, Mapping)):
            continue
        parts.append(str(part))
    return ".".join(parts)


def _holds(node: Any, part: int | str) -> bool:  # noqa: ANN401  # a parsed document
    if isinstance(node, Mapping):
        return part in node
    return isinstance(node, list | tuple) and isinstance(part, int) and part < len(node)


def _known_keys(model_cls: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Return the keys that are legal at a place, by walking the annotations of the models."""
    here: list[type[BaseModel]] = [model_cls]
    for part in location:
        inner = [m for c in here for m in _models(_annotation(c, part)) if isinstance(part, str)]
        tagged = [c for c in here if part == c.__name__ or part in _tags(c)]
        here = inner or tagged or here
    return [field.alias or name for c in here for name, field in c.model_fields.items()]


def _annotation(model_cls: type[BaseModel], key: int | str) -> object:
    for name, field in model_cls.model_fields.items():
        if key in (name, field.alias):
            return field.annotation
    return None


@cache
def _tags(model_cls: type[BaseModel]) -> frozenset[object]:
    """Return the values of the model's `Literal` fields: one of them is the tag of its union."""
    fields = model_cls.model_fields.values()
    return frozenset(value for field in fields for value in get_args(field.annotation))


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _nearest(key: str, known: Sequence[str]) -> str | None:
    matches = get_close_matches(key, known, n=1, cutoff=0.6)
    return matches[0] if matches else None
