"""The installed wheel `aiconfigurator-core`: which systems, engines and versions it has."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from sim.errors import InputError
from sim.records import FloatArray
from sim.yaml_files import read_yaml

PACKAGE: Final = "aiconfigurator_core"
REQUIREMENT: Final = "aiconfigurator-core==0.12.0"
SYSTEMS: Final = MappingProxyType(
    {
        "a100_sxm_80gb": "a100_sxm",
        "h100_sxm": "h100_sxm",
        "h200_sxm": "h200_sxm",
        "b200_sxm": "b200_sxm",
        "b300_sxm": "b300_sxm",
        "gb200": "gb200",
        "gb300": "gb300",
        "l40s": "l40s",
        "rtx_pro_6000": "rtx_pro_6000_server",
    }
)
"""Our hardware profiles, and the wheel's name of each."""
ENGINES: Final = ("vllm", "sglang", "trtllm")
NCCL: Final = "nccl"
_DEVELOPMENT: Final = re.compile(r"dev|rc23$")


@dataclass(frozen=True, slots=True)
class Rows:
    """One table of the wheel: its columns, and where it comes from."""

    columns: dict[str, Any]
    engine: str
    version: str
    source: str

    def __len__(self) -> int:
        return len(self.columns["latency"])

    def number(self, name: str) -> FloatArray:
        """Return a column as floats."""
        values: FloatArray = self.columns[name].astype("float64")
        return values

    def where(self, mask: Any) -> "Rows":  # noqa: ANN401  # an array of booleans
        """Return the rows that a mask picks."""
        kept = {name: column[mask] for name, column in self.columns.items()}
        return Rows(kept, self.engine, self.version, self.source)


@cache
def systems_folder() -> Path:
    """Return the folder of the tables, or say how to get them."""
    try:
        folder = Path(str(files(PACKAGE))) / "systems"
    except ModuleNotFoundError:
        folder = None
    if folder is None or not (folder / "data").is_dir():
        raise InputError(
            "the public kernel tables are not installed",
            remedy=f"install them with: pip install 'paretoken[calibration]' or {REQUIREMENT}",
        )
    return folder


def installed() -> bool:
    """Whether the wheel is there."""
    try:
        systems_folder()
    except InputError:
        return False
    return True


def read_rows(system: str, family: str, engine: str, name: str) -> Rows | None:
    """Return a table by its file name, of the version that the wheel calls current.

    Where that version lacks it, of the newest older one; None where no version has it.
    """
    path = _chosen(_files(system, family, engine, name), _current(system, engine))
    return None if path is None else _rows(path, system, family, engine)


def read_older(system: str, family: str, engine: str, name: str) -> Iterator[Rows]:
    """Yield a table by its file name, of all versions that are releases, the newest first."""
    found = _files(system, family, engine, name)
    released = [path for path in found if not _DEVELOPMENT.search(path.parent.name)]
    for path in sorted(released, key=lambda path: _order(path.parent.name), reverse=True):
        yield _rows(path, system, family, engine)


def _files(system: str, family: str, engine: str, name: str) -> list[Path]:
    folder = systems_folder() / "data" / system / family / engine
    return [path for path in folder.glob(f"*/{name}.parquet") if path.is_file()]


def _rows(path: Path, system: str, family: str, engine: str) -> Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        problem = f"cannot be read as Parquet ({str(error).splitlines()[0][:120]})"
        remedy = f"install {REQUIREMENT} anew"
        raise InputError(problem, where=str(path), remedy=remedy) from None
    columns = {field: table[field].to_numpy() for field in table.column_names}
    version = path.parent.name
    source = f"{REQUIREMENT.replace('==', ' ')}, {system}/{family}/{engine}/{version}/{path.stem}"
    return Rows(columns, engine, version, source)


def _chosen(found: list[Path], current: str | None) -> Path | None:
    """Return the current version's file, else the newest one before it that is a release."""
    named = {path.parent.name: path for path in found}
    if current in named:
        return named[current]
    older = [name for name in named if not _DEVELOPMENT.search(name)]
    if current is not None:
        older = [name for name in older if _order(name) <= _order(current)] or older
    return named[max(older, key=_order)] if older else None


def _order(version: str) -> tuple[int, ...]:
    """Return the numbers of a version; a release comes after its candidates."""
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    return (*numbers[:3], 0 if "rc" in version else 1, *numbers[3:])


@cache
def _current(system: str, engine: str) -> str | None:
    """Return the version of an engine that the wheel serves for a system."""
    content: Any = read_yaml(systems_folder() / "query_versions.yaml")
    slots = {**content.get("defaults", {}), **content.get("overrides", {}).get(system, {})}
    slot = slots.get(engine)
    return None if slot is None else str(slot["current"])
