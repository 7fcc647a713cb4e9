"""`paretoken init`: a commented scenario to start from."""

import json
import re
import shlex
from pathlib import Path
from typing import Final

from app.cli.exits import ANSWER
from app.cli.output import emit
from sim.errors import InputError
from sim.yaml_files import parse_scalar

STARTER = Path(__file__).with_name("starter.yaml")
_PLAIN: Final = re.compile(r"[A-Za-z][\w.-]*")


def write_starter(name: str) -> int:
    """Write `NAME.yaml` in the current folder; never over a file that is there."""
    stem = name.removesuffix(".yaml").removesuffix(".yml")
    path = Path(f"{stem}.yaml")
    if not Path(stem).name.strip("."):
        raise InputError(
            f"`{name}` is no name for a scenario", remedy="for example: paretoken init mine"
        )
    head, key, rest = STARTER.read_text(encoding="utf-8").partition("\nname: {name}\n")
    text = head.replace("{name}", path.stem) + key.replace("{name}", _as_yaml(path.stem)) + rest
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(
            "the file is there already and stays as it is",
            where=str(path),
            remedy="choose another name",
        ) from None
    emit(f"Wrote {path}. Run it: paretoken run {shlex.quote(str(path))}\n")
    return ANSWER


def _as_yaml(name: str) -> str:
    """Return the name as YAML reads it back: `42` and `a: b` need quotes to stay text."""
    return name if _PLAIN.fullmatch(name) and parse_scalar(name) == name else json.dumps(name)
