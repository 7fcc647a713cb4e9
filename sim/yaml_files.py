"""Reading what users write: one file in, a validated object or one clear sentence out.

Every loader goes through `read_yaml` (or `read_json`) and `validate`, so that a wrong file is
refused in the same words everywhere: which file, which key, what was found, what to write instead.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from sim.complaints import in_short, problems_of, read_as_numbers
from sim.errors import InputError, UnknownNameError

M = TypeVar("M", bound=BaseModel)

_Base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TIMESTAMP: Final = "tag:yaml.org,2002:timestamp"
_INT: Final = "tag:yaml.org,2002:int"
_FLOAT: Final = "tag:yaml.org,2002:float"


class _Loader(_Base):  # type: ignore[misc, valid-type, unused-ignore]  # the C parser where it is built in
    """Safe YAML with four repairs.

    Dates stay text, `1e9` is a number, `010` and `1:30` (8 and 90 in YAML 1.1) are none, and no
    key comes twice.
    """

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


_OURS: Final = {_TIMESTAMP, _INT, _FLOAT}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _OURS]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}
for _tag, _pattern in (
    (_INT, r"^[-+]?(0|[1-9][\d_]*|0x[\da-fA-F_]+|0b[01_]+)$"),
    (_FLOAT, r"^[-+]?(\d[\d_]*\.[\d_]*|\.\d[\d_]*)([eE][-+]?\d+)?$"),
    (_FLOAT, r"^[-+]?\d+[eE][-+]?\d+$"),
    (_FLOAT, r"^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$"),
):
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list("-+.0123456789"))


def read_text(path: Path, *, kind: str = "text file (UTF-8)", newline: str | None = None) -> str:
    """Return the text of a file, without a byte-order mark; `newline` as in `open`.

    Raises `InputError` where it cannot be read, or holds no text: then it is no `kind`.
    """
    if path.is_dir():
        raise InputError("this is a directory, not a file", where=str(path))
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            return file.read()
    except UnicodeDecodeError:
        raise _no_text(path, kind) from None
    except FileNotFoundError:
        raise InputError("there is no such file", where=str(path)) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"the file cannot be read ({reason})", where=str(path)) from None


_NO_TEXT: Final = (
    (b"\x1f\x8b", "this is compressed (gzip)", "unpack it first"),
    (b"PK\x03\x04", "this is a ZIP archive or a spreadsheet", "unpack it, or save it as CSV"),
    (b"PAR1", "this is a Parquet file", "save it as CSV or JSON"),
    (b"\xff\xfe", "this is text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "this is text in UTF-16", "save it as UTF-8"),
)
"""First bytes of files that people give for text, what they are, and what to do."""


def _no_text(path: Path, kind: str) -> InputError:
    """Return the error for a file that is not UTF-8, with what it is where its start tells."""
    with path.open("rb") as file:
        start = file.read(4)
    for first, what, remedy in _NO_TEXT:
        if start.startswith(first):
            return InputError(f"{what}, not a {kind}", where=str(path), remedy=remedy)
    return InputError(f"this is not a {kind}", where=str(path), remedy="save it as UTF-8")


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
    text = read_text(path)
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
    text = read_text(path)
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
    found = (path.name for path in directory.iterdir()) if directory.is_dir() else ()
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


def changed_ns(path: Path) -> int:
    """Return when a file changed, for caches of what it holds; 0 where there is none."""
    return path.stat().st_mtime_ns if path.is_file() else 0


def find(kind: str, reference: str | Path, directory: Path) -> Path:
    """Return the file that is meant: a name in `directory`, else a path of the user's own."""
    if isinstance(reference, str) and reference in list_names(directory):
        return directory / f"{reference}.yaml"
    path = Path(reference).expanduser()
    if str(reference).strip() and path.exists():
        return path
    raise UnknownNameError(kind, str(reference), list_names(directory))


def validate(model_cls: type[M], mapping: Mapping[str, object], where: str) -> M:
    """Return `mapping` as a `model_cls`, or raise one `InputError` that names its problems."""
    try:
        valid = model_cls.model_validate(dict(mapping))
    except ValidationError as error:
        problems = problems_of(model_cls, mapping, error)
        raise InputError(in_short(problems), where=where) from None
    odd = read_as_numbers(valid, mapping)
    if odd:
        raise InputError(in_short(odd), where=where)
    return valid


def parse_scalar(text: str) -> object:
    """Return what a value typed on the command line means in YAML: a number, a list, text."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  # derives from the safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
