"""An engine's preset as a document: read, changed in some settings, written again."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from calibration.engine.knobs import KNOBS, Knob
from sim.errors import InputError
from sim.hardware.engine import EngineFile
from sim.hardware.load import PROFILES
from sim.report.files import write_whole
from sim.yaml_files import find, read_yaml, validate


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset on its way through a fit."""

    name: str
    document: Mapping[str, object]

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """The settings that are fitted: those that the preset names and calls calibrated.

        What it leaves out stays out: a fit with fewer times carries further. Where it calls none
        so, all that is no documented fact of the engine.
        """
        origins = {knob.key: self._origin(knob.key) for knob in KNOBS}
        told = tuple(knob for knob in KNOBS if origins[knob.key] == "calibrated")
        return told or tuple(knob for knob in KNOBS if origins[knob.key] != "documented")

    def value(self, key: str) -> float:
        """Return a setting, as the engine is without it where the preset leaves it out."""
        absent = next((knob.absent for knob in KNOBS if knob.key == key), 0.0)
        given = self._settings().get(key, absent)
        found = given.get("value", 0.0) if isinstance(given, Mapping) else given
        return float(found) if isinstance(found, int | float) else 0.0

    def _settings(self) -> dict[str, object]:
        settings = self.document.get("settings")
        return dict(settings) if isinstance(settings, Mapping) else {}

    def _origin(self, key: str) -> object:
        """Return who says so; a bare value is as the file says. None where the key is absent."""
        given = self._settings().get(key)
        if isinstance(given, Mapping):
            return given.get("origin")
        return None if given is None else self.document.get("origin")

    def changed(self, values: Mapping[str, float], **facts: object) -> "Preset":
        """Return the preset with other values of some settings, and other facts of the file."""
        settings = self._settings() | {key: _rounded(value) for key, value in values.items()}
        return Preset(self.name, {**self.document, **facts, "settings": settings})

    def text(self) -> str:
        """Return the preset as YAML."""
        written: str = yaml.safe_dump(dict(self.document), sort_keys=False, width=99)
        return written

    def write(self, path: Path) -> Path:
        """Check the preset, then write it as a file that `engine:` in a scenario can name."""
        validate(EngineFile, self.document, str(path))
        return write_whole(path, self.text().encode())


def read_preset(name: str) -> Preset:
    """Return the shipped preset of an engine."""
    document = read_yaml(find("engine", name, PROFILES / "engines"))
    if not isinstance(document.get("settings"), Mapping):
        raise InputError("holds no `settings` to fit", where=f"engine {name}")
    return Preset(name, document)


def _rounded(value: float) -> float:
    """Return three digits: a fit knows no more."""
    return float(f"{value:.3g}")
