"""The strategies of a comparison, each with an id for files and a label for people."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sim.decoding import AnyStrategy
from sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Entry:
    """One strategy of the comparison."""

    strategy: str
    """Id: `speculative`, or `speculative:chain of 3` where there is more than one of a kind."""
    label: str
    lossless: bool
    what_if: bool
    decoding: AnyStrategy


def entries(scenario: Scenario) -> tuple[Entry, ...]:
    """Return the scenario's own strategy and those that it lists, the baseline first.

    The baseline is the first autoregressive one; without any, the scenario's own.
    """
    return entries_of([scenario.decoding, *scenario.strategies])


def entries_of(strategies: Sequence[AnyStrategy]) -> tuple[Entry, ...]:
    """Return strategies with their ids, the first autoregressive one before all others."""
    listed = tuple(dict.fromkeys(strategies))
    ordered = sorted(listed, key=lambda item: item.name != "autoregressive")
    return tuple(
        Entry(name, _label(name), item.lossless, item.what_if, item)
        for name, item in zip(_ids(ordered), ordered, strict=True)
    )


def _ids(strategies: Sequence[AnyStrategy]) -> list[str]:
    """Return the plain names, with what tells them apart where a name comes more than once."""
    kinds = Counter(item.name for item in strategies)
    ids = [item.name if kinds[item.name] == 1 else _detailed(item) for item in strategies]
    seen: Counter[str] = Counter()
    for place, name in enumerate(ids):
        seen[name] += 1
        if seen[name] > 1:
            ids[place] = f"{name} #{seen[name]}"
    return ids


def _detailed(strategy: AnyStrategy) -> str:
    details = [detail for detail in (strategy.short_knobs, strategy.model) if detail]
    return f"{strategy.name}:{', '.join(details)}" if details else strategy.name


def _label(name: str) -> str:
    """Return an id as people write it.

    >>> _label("block_diffusion:32 in 8")
    'Block diffusion, 32 in 8'
    """
    kind, _, detail = name.partition(":")
    words = kind.replace("_", " ").capitalize()
    return f"{words}, {detail}" if detail else words
