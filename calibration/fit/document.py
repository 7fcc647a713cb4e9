"""Writing a fit as a profile: `hardware_profiles/fitted/<gpu>__<engine>.yaml`."""

from collections.abc import Mapping
from datetime import date
from math import sqrt
from pathlib import Path
from typing import Any, Final

import yaml

from calibration.fit.fit import Result
from sim.errors import InputError
from sim.hardware import FittedProfile, load_universal
from sim.hardware.evidence import Evidence
from sim.hardware.fitted import Fit
from sim.hardware.fitted_file import FittedFile
from sim.report.files import write_whole
from sim.units import NS_PER_S, US_PER_S
from sim.yaml_files import validate

_NANOSECONDS: Final = frozenset({"per_inner_s", "per_token_s", "per_item_s"})
_DIGITS: Final = 4
_ONE_SIDED: Final = 1.645
"""Of the normal distribution, 95 %."""


def to_document(result: Result, *, as_of: str | None = None) -> dict[str, Any]:
    """Return the profile as a document: what was fitted, in µs and ns, with its evidence."""
    found: dict[str, Any] = {
        "gpu": result.gpu.name,
        "engine": result.engine,
        "origin": result.origin,
        "source": "kernel timings: " + "; ".join(result.sources),
        "as_of": as_of or date.today().isoformat(),  # noqa: DTZ011  # a calendar date
        "error": {each.part: stated_error(each.evidence) for each in result.accepted},
    }
    for each in result.accepted:
        family, _, key = each.part.partition(".")
        if key:
            found.setdefault(family, {})[key] = _in_file_units(each.fit)
        else:
            found[family] = _in_file_units(each.fit)
    if result.refused:
        found["note"] = "; ".join(result.refusals)
    return found


def stated_error(evidence: Evidence) -> float:
    """Return the held-out error as a profile states it.

    Of few timings that is the upper end of what the larger of both may be (95 %): two standard
    errors above it; or, if that is more, the mean of exponentially distributed errors that would
    come out so low one time in 20: 2 n / chi-squared of 2 n degrees of freedom (Wilson and
    Hilferty 1931) times as high.
    """
    mean, spread, n = evidence.held_out["all"], evidence.held_out_spread, evidence.held_out_points
    if spread is None:
        return mean
    mean = max(mean, evidence.held_out_again or 0.0)
    lowest = (1.0 - 1.0 / (9.0 * n) - _ONE_SIDED / (3.0 * sqrt(n))) ** 3
    return round(max(mean + 2.0 * spread, mean / lowest), _DIGITS)


def to_profile(result: Result, *, as_of: str | None = None) -> FittedProfile:
    """Return the profile as a simulation loads it, completed from the universal roofline."""
    file = validate(FittedFile, to_document(result, as_of=as_of), result.gpu.name)
    return file.to_profile(load_universal())


def write_profile(result: Result, path: Path, *, as_of: str | None = None) -> Path:
    """Write the profile; it is checked as a scenario would before anything is written."""
    document = to_document(result, as_of=as_of)
    validate(FittedFile, document, str(path))
    text = f"# Written by `paretoken calibrate fit`; do not edit.\n{_dumped(document)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_whole(path, text.encode())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = f"the file cannot be written ({reason})"
        raise InputError(problem, where=str(path), remedy="name another") from None


def _in_file_units(fit: Fit) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fit.model_dump(exclude_none=True, mode="json").items():
        if name == "evidence":
            found[name] = _evidence(value)
        elif name.endswith("_s"):
            if value:
                found.update([_time(name, value)])
        else:
            found[name] = _short(value) if isinstance(value, float) else value
    return found


def _evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return evidence with its standard errors in the units of the file, empty parts left out."""
    found = {name: value for name, value in evidence.items() if value not in ({}, [], None)}
    errors = found.get("standard_errors", {})
    found["standard_errors"] = dict(
        _time(name, value) if name.endswith("_s") else (name, _short(value))
        for name, value in errors.items()
    )
    return found


def _time(name: str, seconds: float) -> tuple[str, float]:
    if name in _NANOSECONDS:
        return name.removesuffix("_s") + "_ns", _short(seconds * NS_PER_S)
    return name.removesuffix("_s") + "_us", _short(seconds * US_PER_S)


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


class _Dumper(yaml.SafeDumper):
    """Tables as blocks of text, small mappings on one line."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def _dumped(document: Mapping[str, Any]) -> str:
    text: str = yaml.dump(
        dict(document),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=99,
    )
    return text
