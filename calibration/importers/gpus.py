"""From the names that drivers and people give to a GPU to that of its profile."""

import re
from functools import lru_cache
from typing import Final

from calibration.importers.numbers import text
from sim.hardware import list_gpus

_USUAL: Final = {
    "a100": "a100_sxm_80gb",
    "h100": "h100_sxm",
    "h200": "h200_sxm",
    "b200": "b200_sxm",
    "b300": "b300_sxm",
    "v100": "v100_sxm_32gb",
}
"""The usual form of a GPU whose label tells no more; whoever has another names it in full."""
_SAYS_NO_MORE: Final = re.compile(r"nvidia|tesla|gpu|sxm|hbm\d?e?|\d+gb")
"""Words beside its name that are true of the usual form, too."""


def gpu_name(value: object) -> tuple[str | None, int | None]:
    """Return the profile and the number of GPUs that a label means; an unknown one as it stands.

    >>> gpu_name("4xNVIDIA_L40S"), gpu_name("NVIDIA H100 80GB HBM3"), gpu_name("8 x H200")
    (('l40s', 4), ('h100_sxm', None), ('h200_sxm', 8))
    >>> gpu_name("NVIDIA A100-SXM4-40GB")[0], gpu_name("h100_pcie")[0], gpu_name("Abacus")[0]
    ('a100_sxm_40gb', 'h100_pcie', 'Abacus')

    A word that contradicts the usual form leaves the label as it stands:

    >>> gpu_name("A100 40GB")[0], gpu_name("h100_pci")[0], gpu_name("A100 80GB")[0]
    ('A100 40GB', 'h100_pci', 'a100_sxm_80gb')
    """
    label = text(value)
    return (None, None) if label is None else _named(label)


@lru_cache(maxsize=1024)
def _named(label: str) -> tuple[str, int | None]:
    """Return what a label means; a table of a million rows has few of them."""
    counted = re.match(r"^\s*(\d+)\s*[x×*]\s*(.+)$", label, re.IGNORECASE)
    count, rest = (int(counted[1]), counted[2]) if counted else (None, label)
    words = set(re.sub(r"[^a-z0-9]+", " ", rest.lower()).split())
    words = {re.sub(r"^sxm\d$", "sxm", word) for word in words}
    told = [name for name in list_gpus() if set(name.split("_")) <= words]
    if told:
        return max(told, key=lambda name: len(name.split("_"))), count
    return next((_USUAL[word] for word in sorted(words) if _usual(word, words)), label), count


def _usual(name: str, words: set[str]) -> bool:
    """Tell whether a label means the usual form of a GPU: nothing beside the name contradicts."""
    if name not in _USUAL or not all(map(_SAYS_NO_MORE.fullmatch, words - {name})):
        return False
    sizes = {word for word in _USUAL[name].split("_") if word.endswith("gb")}
    return not sizes or all(word in sizes for word in words if word.endswith("gb"))
