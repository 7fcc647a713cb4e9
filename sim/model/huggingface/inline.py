"""A configuration without a file: as it stands inline in a scenario, or as it was uploaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sim.model.architecture import Model
from sim.model.huggingface.load import from_mapping
from sim.model.huggingface.quantisers import SIDE_FILES

NAME: Final = "_name_or_path"
"""Key under which a configuration says what it is called."""
_NOWHERE: Final = Path("<inline>")
"""No folder is called like that: nothing lies beside a configuration without a file."""


def load_inline(config: Mapping[str, object]) -> Model:
    """Return the model that the content of a `config.json` describes."""
    return from_mapping(config, _NOWHERE / f"{name_of(config)}.json", where="model")


def name_of(config: Mapping[str, object]) -> str:
    """Return what a configuration is called: its own name without the owner, else its family.

    >>> name_of({"_name_or_path": "Qwen/Qwen3-8B", "model_type": "qwen3"})
    'Qwen3-8B'
    """
    for key in (NAME, "model_type"):
        given = config.get(key)
        if isinstance(given, str) and (name := given.rstrip("/").rpartition("/")[2]):
            return name
    return "inline"


def fold(
    config: Mapping[str, object], sides: Mapping[str, Mapping[str, object]], name: str
) -> dict[str, Any]:
    """Return a configuration that needs no side file, under a name.

    `sides` are files of a quantiser by name; a configuration that describes its quantisation
    itself has the last word, as it has on disk.
    """
    folded = {**config, NAME: name}
    if config.get("quantization_config") or config.get("compression_config"):
        return folded
    for file, method in SIDE_FILES:
        content = sides.get(file)
        if content is not None:
            inner = content.get("quantization")
            rules = inner if isinstance(inner, Mapping) else content
            return {**folded, "quantization_config": {"quant_method": method, **rules}}
    return folded
