"""Names and paths -> profiles. What has no file of its own gets the generic one and says so."""

from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import hardware_profiles
from sim.errors import UnknownNameError
from sim.hardware.engine import EngineFile, EngineProfile
from sim.hardware.fitted import FittedProfile
from sim.hardware.fitted_file import FittedFile
from sim.hardware.gpu_file import GpuFile
from sim.hardware.profile import GpuProfile
from sim.yaml_files import changed_ns, find, list_names, read_yaml, validate

PROFILES: Final = Path(hardware_profiles.__file__).resolve().parent
"""Folder of the shipped profiles; its subfolders are `fitted`, `engines` and `prices`."""

FITTED: Final = PROFILES / "fitted"
ENGINES: Final = ("generic", "sglang", "trtllm", "vllm")
"""Engines that a scenario may name, whether or not they have figures of their own yet."""
GENERIC: Final = "generic"


def list_gpus() -> tuple[str, ...]:
    """Return the names of the GPUs that have a profile."""
    return list_names(PROFILES)


def list_engines() -> tuple[str, ...]:
    """Return the names of the engines that a scenario may use."""
    return tuple(sorted({*ENGINES, *list_names(PROFILES / "engines")}))


def load_gpu(reference: str | Path) -> GpuProfile:
    """Return the profile of a GPU by its name, or from a YAML file of the user's own."""
    path = find("hardware", reference, PROFILES)
    return validate(GpuFile, read_yaml(path), str(path)).to_profile()


def load_fitted(gpu: GpuProfile, engine: str) -> FittedProfile:
    """Return the kernel layer for a GPU and an engine.

    In this order: the file of both; the GPU's generic file; the universal roofline, labelled
    assumed. What a file lacks comes from the next of them (see `borrowed`).
    """
    generic = FITTED / f"{gpu.name}__{GENERIC}.yaml"
    own = FITTED / f"{gpu.name}__{engine}.yaml"
    if own.is_file() and generic.is_file() and own != generic:
        return _profile(own, changed_ns(own), generic, changed_ns(generic))
    for path in (own, generic):
        if path.is_file():
            return load_fitted_file(path)
    note = f"no fit for {gpu.name}: the universal roofline stands in"
    return load_universal().model_copy(update={"gpu": gpu.name, "origin": "assumed", "note": note})


def load_fitted_file(path: Path) -> FittedProfile:
    """Return the kernel layer that a file holds, completed from the universal roofline."""
    return _profile(path, changed_ns(path))


def load_fitted_named(reference: str | Path) -> FittedProfile:
    """Return a fitted profile by its name, such as `h100_sxm__vllm`, or from a file."""
    return load_fitted_file(find("fitted profile", reference, FITTED))


@lru_cache(maxsize=32)
def _profile(
    path: Path, _changed: int, generic: Path | None = None, _generic_changed: int = 0
) -> FittedProfile:
    """Return a profile; read again when a file changes."""
    file = validate(FittedFile, read_yaml(path), str(path))
    return file.to_profile(load_universal() if generic is None else load_fitted_file(generic))


@cache
def load_universal() -> FittedProfile:
    """Return the universal roofline: every kernel, one set of coefficients for all GPUs."""
    path = FITTED / "universal.yaml"
    return validate(FittedFile, read_yaml(path), str(path)).to_profile()


def load_engine(reference: str | Path) -> EngineProfile:
    """Return the host layer of an engine by its name, or from a YAML file of the user's own.

    An engine without figures of its own gets the generic ones: `requested` keeps the name, and
    `note` says so.
    """
    folder = PROFILES / "engines"
    name = str(reference)
    if name in ENGINES and not (folder / f"{name}.yaml").is_file():
        generic = load_engine(GENERIC)
        note = f"no host layer for {name} yet: the generic one stands in"
        return generic.model_copy(update={"requested": name, "origin": "assumed", "note": note})
    if name not in list_engines() and not Path(reference).expanduser().exists():
        raise UnknownNameError("engine", name, list_engines())
    return load_engine_file(reference).to_profile()


def load_engine_file(reference: str | Path) -> EngineFile:
    """Return the preset of an engine as its file has it: values in the units of their keys."""
    path = find("engine", reference, PROFILES / "engines")
    return validate(EngineFile, read_yaml(path), str(path))
