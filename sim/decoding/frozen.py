"""Mappings inside strategies: never changed, and so fit to tell strategies apart by."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that nobody changes: it can be hashed, as its strategy must be.

    It is not guarded: processes that copy it fill it key by key.

    >>> hash(FrozenDict({"chat": 0.5})) == hash(FrozenDict({"chat": 0.5}))
    True
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))
