"""Strategies by name, as `--strategies autoregressive,speculative:eagle3` gives them."""

from collections.abc import Iterator, Sequence

from sim.decoding import AnyStrategy, Autoregressive
from sim.errors import InputError
from sim.planning.strategies import Entry, entries, entries_of
from sim.scenario import Scenario


def strategies_named(scenario: Scenario, names: Sequence[str]) -> tuple[Entry, ...]:
    """Return the strategies that are meant: those of the scenario, or published ones.

    A name is that of a strategy (`block_diffusion`), with what tells two of a kind apart behind a
    colon (`speculative:chain of 3`). What the scenario does not list is taken from what is
    published for its model, where something is.
    """
    found = list[AnyStrategy]()
    for name in names:
        matches = list(dict.fromkeys(_listed(scenario, name)))
        found += matches or [_known(scenario, name)]
    return entries_of(found)


def _listed(scenario: Scenario, name: str) -> Iterator[AnyStrategy]:
    """Yield the scenario's own strategies of a name."""
    kind, _, detail = name.strip().lower().partition(":")
    for entry in entries(scenario):
        item = entry.decoding
        if item.name != kind.replace("-", "_"):
            continue
        called = {entry.strategy.partition(":")[2], item.short_knobs, item.knobs, item.model or ""}
        words = {word.lower() for word in called}
        if not detail or detail in words or any(detail in word for word in words):
            yield item


def _known(scenario: Scenario, name: str) -> AnyStrategy:
    """Return a strategy that needs no settings; raise one sentence for all others."""
    if name.strip().lower() == "autoregressive":
        return Autoregressive()
    listed = ", ".join(entry.strategy for entry in entries(scenario))
    raise InputError(
        f"the scenario lists no strategy `{name.strip()}`",
        where="--strategies",
        remedy=f"add it to `strategies` with its settings; it lists {listed}",
    )
