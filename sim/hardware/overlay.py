"""A fit of the user's own over the shipped one: part by part, what the own file has wins."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from sim.errors import InputError
from sim.hardware.fitted import FittedProfile, Own
from sim.hardware.fitted_file import FittedFile, part_names
from sim.hardware.load import FITTED
from sim.yaml_files import changed_ns, find, read_yaml, validate


def load_over(shipped: FittedProfile, reference: str | Path) -> FittedProfile:
    """Return the shipped kernel layer of a GPU and engine with the parts of another file over it.

    A part is one operation in one format (`gemm.fp8`), and is taken whole: its numbers belong
    together. Parts that are as shipped are no parts of one's own.
    """
    path = find("fitted profile", reference, FITTED)
    file = _file(path, changed_ns(path))
    if file.gpu != shipped.gpu:
        raise InputError(
            f"{reference} was fitted on {file.gpu}, and the hardware is {shipped.gpu}",
            where="fitted",
            remedy="name a profile of the same GPU, or leave it out",
        )
    return laid_over(file, shipped)


def laid_over(file: FittedFile, shipped: FittedProfile) -> FittedProfile:
    """Return `shipped` with the parts of `file` in place of its own, and their origin named."""
    both, filled = file.completed(shipped)
    names = frozenset(part_names(both)) - filled
    own = frozenset(name for name in names if part_of(both, name) != part_of(shipped, name))
    if not own:
        return shipped
    errors = {name: error for name, error in shipped.error.items() if name not in own}
    return both.model_copy(
        update={
            "engine": shipped.engine,
            "origin": shipped.origin,
            "source": shipped.source,
            "as_of": shipped.as_of,
            "note": shipped.note,
            "borrowed": shipped.borrowed - own,
            "error": {**errors, **{name: file.error.get(name) for name in sorted(own)}},
            "own": Own(
                parts=own,
                engine=file.engine,
                origin=file.origin,
                source=file.source,
                as_of=file.as_of,
                note=file.note,
            ),
        }
    )


def part_of(fitted: FittedProfile, name: str) -> object:
    """Return one part by its dotted name, such as `gemm.fp8`; None where there is none."""
    found: object = fitted
    for key in name.split("."):
        if isinstance(found, Mapping):
            found = found.get(key)
        else:
            found = getattr(found, key, getattr(found, f"{key}_s", None))
    return found


@lru_cache(maxsize=8)
def _file(path: Path, _changed_ns: int) -> FittedFile:
    """Return the content of a file; read again when it changes."""
    return validate(FittedFile, read_yaml(path), str(path))
