"""Reading what users write: one file in, a validated object or one clear sentence out.

Every loader goes through `read_yaml` (or `read_json`) and `validate`, so that a wrong file is
refused in the same words everywhere: which file, which key, what was found, what to write instead.
"""

import json
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from sim.errors import InputError, UnknownNameError

M = TypeVar("M", bound=BaseModel)

_Base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TIMESTAMP: Final = "tag:yaml.org,2002:timestamp"
_FLOAT: Final = "tag:yaml.org,2002:float"


class _Loader(_Base):  # type: ignore[misc, valid-type, unused-ignore]  # the C parser where it is built in
    """Safe YAML with three repairs: dates stay text, `1e9` is a number, no key comes twice."""

    def construct_mapping(  # the signature is PyYAML's
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002
    ) -> dict[Any, Any]:
        """Build a mapping; PyYAML would let the last of two equal keys win in silence."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                problem = f"the key `{key.value}` is given twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _FLOAT, re.compile(r"^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def _text(path: Path) -> str:
    if path.is_dir():
        raise InputError("this is a directory, not a file", where=str(path))
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("this is not a text file (UTF-8)", where=str(path)) from None
    except FileNotFoundError:
        raise InputError("there is no such file", where=str(path)) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"the file cannot be read ({reason})", where=str(path)) from None


def _mapping(content: object, path: Path, form: str) -> Mapping[str, object]:
    if content is None:
        raise InputError("the file is empty", where=str(path))
    if not isinstance(content, dict):
        found = "a list" if isinstance(content, list) else "a single value"
        raise InputError(f"expected {form} keys with values, found {found}", where=str(path))
    odd = [key for key in content if not isinstance(key, str)]
    if odd:
        raise InputError(f"the key `{odd[0]}` is not text", where=str(path), remedy="quote it")
    return content


def read_yaml(path: Path) -> Mapping[str, object]:
    """Return the mapping that a YAML file holds, or raise `InputError` in one sentence."""
    text = _text(path)
    try:
        content = yaml.load(text, Loader=_Loader)  # noqa: S506  # derives from the safe loader
    except yaml.MarkedYAMLError as error:
        mark, problem = error.problem_mark, error.problem or "cannot be read"
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise InputError(f"not valid YAML: {problem}{place}", where=str(path)) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = " ".join(str(error).split())
        raise InputError(f"not valid YAML: {problem}", where=str(path)) from None
    return _mapping(content, path, "YAML")


def read_json(path: Path) -> Mapping[str, object]:
    """Return the object that a JSON file holds, or raise `InputError` in one sentence."""
    text = _text(path)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise InputError(problem, where=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", where=str(path)) from None
    return _mapping(content, path, "JSON")


def list_names(directory: Path) -> tuple[str, ...]:
    """Return the names of the YAML files in a folder of the catalog, sorted."""
    return tuple(sorted(path.stem for path in directory.glob("*.yaml")))


def find(kind: str, reference: str | Path, directory: Path) -> Path:
    """Return the file that is meant: a name in `directory`, else a path of the user's own."""
    if isinstance(reference, str) and reference in list_names(directory):
        return directory / f"{reference}.yaml"
    path = Path(reference).expanduser()
    if path.exists():
        return path
    raise UnknownNameError(kind, str(reference), list_names(directory))


def validate(model_cls: type[M], mapping: Mapping[str, object], where: str) -> M:
    """Return `mapping` as a `model_cls`, or raise one `InputError` that names every problem."""
    try:
        return model_cls.model_validate(dict(mapping))
    except ValidationError as error:
        problems = _problems(model_cls, mapping, error)
        raise InputError("; ".join(problems), where=where) from None


def _problems(model_cls: type[BaseModel], mapping: object, error: ValidationError) -> list[str]:
    suggested: set[str] = set()
    unknown: list[str] = []
    others: list[tuple[str, str]] = []
    for detail in error.errors(include_url=False):
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
    message = message.replace("Input should", "should", 1).partition(", unable to parse")[0]
    if detail["type"] in {"model_type", "model_attributes_type", "dict_type"}:
        message = "should hold keys with values"
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


def parse_scalar(text: str) -> object:
    """Return what a value typed on the command line means in YAML: a number, a list, text."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  # derives from the safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
