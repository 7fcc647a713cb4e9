"""`paretoken init`: a commented scenario to start from."""

from pathlib import Path

from app.cli.exits import ANSWER
from app.cli.output import emit
from sim.errors import InputError

STARTER = Path(__file__).with_name("starter.yaml")


def write_starter(name: str) -> int:
    """Write `NAME.yaml` in the current folder; never over a file that is there."""
    stem = name.removesuffix(".yaml").removesuffix(".yml")
    path = Path(f"{stem}.yaml")
    text = STARTER.read_text(encoding="utf-8").replace("{name}", path.stem)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(
            "the file is there already and stays as it is",
            where=str(path),
            remedy="choose another name",
        ) from None
    emit(f"Wrote {path}. Run it: paretoken run {path}\n")
    return ANSWER
