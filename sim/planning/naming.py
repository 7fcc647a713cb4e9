"""Strategies by name, as `--strategies autoregressive,speculative:eagle3` gives them."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import TypeAdapter

from sim.decoding import AnyStrategy
from sim.decoding.denoise_tables import ROW_KEYS, list_denoise_tables, load_denoise_table
from sim.errors import InputError
from sim.model import load_model
from sim.planning.strategies import Entry, entries, entries_of
from sim.scenario import Scenario
from sim.scenario.published import named_strategy

_STRATEGY: Final = TypeAdapter[AnyStrategy](AnyStrategy)


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
    """Return a strategy that needs no settings, or a published one; else raise one sentence."""
    kind, _, detail = name.strip().lower().replace("-", "_").partition(":")
    keys: dict[str, Any] | None = None
    if kind == "autoregressive":
        keys = {"name": kind}
    elif kind == "speculative" and detail:
        keys = named_strategy(name.strip().lower(), scenario.model)
    elif kind in {"diffusion", "block_diffusion"}:
        keys = _denoising(scenario, kind)
    if keys is not None:
        return _STRATEGY.validate_python(keys)
    listed = ", ".join(entry.strategy for entry in entries(scenario))
    raise InputError(
        f"the scenario lists no strategy `{name.strip()}`",
        where="--strategies",
        remedy=f"add it to `strategies` with its settings; it lists {listed}",
    )


def _denoising(scenario: Scenario, kind: str) -> dict[str, Any] | None:
    """Return the first row of what is published of a diffusion model's passes, if anything is."""
    model = load_model(scenario.model)
    if kind not in model.decoding or model.name not in list_denoise_tables():
        return None
    row = load_denoise_table(model.name).rows[0]
    told = row.model_dump(include=set(ROW_KEYS), exclude_none=True)
    passes = {"table": model.name, **told}
    keys = {"name": kind, "block_tokens": row.block_tokens or 32, "denoise_passes": passes}
    return keys | ({"cache": "dual"} if kind == "diffusion" else {})
