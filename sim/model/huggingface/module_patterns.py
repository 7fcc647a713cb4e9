"""Names of modules as quantisers write them in their lists, matched against a layer's matrices.

Lists mix plain names (`lm_head`, `gate`), names with a layer (`model.layers.3.self_attn.q_proj`),
wildcards (`model.layers.7*`, `*.mlp.gate`) and regular expressions (`re:.*self_attn.*`). A plain
name means the module and all inside it, wherever it stands.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

_LAYER: Final = re.compile(r"(?:.*\.)?(?:layers|blocks|h)\.(\d+|\*)(.*)")
_PREFIXES: Final = ("model.layers", "language_model.model.layers", "model.language_model.layers")


class Patterns:
    """A list of patterns, indexed by layer so that long lists stay cheap."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._of_layer: dict[int, list[str]] = {}
        self._of_all: list[str] = []
        self._anywhere: list[str] = []
        self._regular: list[re.Pattern[str]] = []
        for pattern in patterns:
            self._add(pattern)

    def _add(self, pattern: str) -> None:
        if pattern.startswith("re:"):
            self._regular.append(re.compile(pattern[3:]))
        elif (match := _LAYER.fullmatch(pattern)) is None:
            self._anywhere.append(pattern.strip("."))
        elif match[1] == "*":
            self._of_all.append(match[2].strip("."))
        else:
            self._of_layer.setdefault(int(match[1]), []).append(match[2].strip("."))

    def hit(self, layer: int, names: Iterable[str]) -> bool:
        """Whether one of `names`, which a matrix of this layer may bear, is in the list."""
        return any(self._hit(layer, name) for name in names)

    def _hit(self, layer: int, name: str) -> bool:
        tails = self._of_layer.get(layer, [])
        if any(_inside(name, tail) for tail in (*tails, *self._of_all)):
            return True
        full = f"model.layers.{layer}.{name}"
        if any(_inside(full, p) or _inside(full, f"*.{p}") for p in self._anywhere):
            return True
        return any(
            pattern.match(f"{prefix}.{layer}.{name}")
            for pattern in self._regular
            for prefix in _PREFIXES
        )

    def hit_head(self) -> bool:
        """Whether the LM head is in the list."""
        names = ("lm_head", "language_model.lm_head")
        plain = any(fnmatchcase(name, pattern) for pattern in self._anywhere for name in names)
        return plain or any(pattern.match("lm_head") for pattern in self._regular)


def _inside(name: str, pattern: str) -> bool:
    """Whether the pattern means this module or one that it stands in; no pattern means all."""
    return not pattern or fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*")
