"""Diffusion as the knobs of the sidebar show it: blocks, passes, caches, what is streamed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final

from app.dashboard.typed import numbers_of
from sim.decoding import BlockDiffusion, Diffusion
from sim.decoding.denoise_tables import (
    ROW_KEYS,
    DenoiseRow,
    Published,
    list_denoise_tables,
    load_denoise_table,
)
from sim.decoding.denoising import Measured, TokensPerPass
from sim.errors import InputError
from sim.yaml_files import validate

PASSES: Final = "passes per block"
SPEED: Final = "tokens per pass"
PUBLISHED: Final = "published"
MEASURED: Final = "measured blocks"
SCHEDULES: Final = (PASSES, SPEED, PUBLISHED, MEASURED)
CACHES: Final = ("none", "prefix", "dual")
SOURCE: Final = "set on the page"


@dataclass(frozen=True)
class DenoisingKnobs:
    """The knobs of both kinds of diffusion, those that are out of sight included."""

    block_tokens: int = 32
    schedule: str = PASSES
    denoise_passes: int = 8
    """Per block."""
    tokens_per_pass: float = 4.0
    denoise_row: str = ""
    """A row of a published table, by its label."""
    measured_passes: str = ""
    """Passes of measured blocks, with commas between."""
    blocks_in_flight: int = 1
    self_conditioning: bool = False
    lockstep: bool = False
    cache: str = "dual"
    canvas_tokens: int = 0
    """0: as long as the answer, in whole blocks."""
    one_block: bool = False
    """The whole canvas is one block."""
    early_stop: bool = False
    refresh_every: int = 0
    """0: once a block."""
    all_logits: bool = False
    stream_at_end: bool = False


@cache
def rows() -> Mapping[str, tuple[str, DenoiseRow]]:
    """Return every published row with the name of its table, by its label."""
    return {
        _label(table, row): (table, row)
        for table in list_denoise_tables()
        for row in load_denoise_table(table).rows
    }


def model_of(table: str) -> str:
    """Return the model that a table is about."""
    return load_denoise_table(table).model


def rows_of(model: str) -> tuple[str, ...]:
    """Return the labels of all rows, those of a model first."""
    mine = [label for label, (table, _) in rows().items() if model_of(table) == model]
    return (*mine, *(label for label in rows() if label not in mine))


def block_diffusion_of(knobs: DenoisingKnobs) -> BlockDiffusion:
    """Return what the knobs mean; raises one sentence where they do not go together."""
    keys = {
        "block_tokens": knobs.block_tokens,
        "denoise_passes": _passes(knobs),
        "blocks_in_flight": knobs.blocks_in_flight,
        "self_conditioning": knobs.self_conditioning,
        "batching": "lockstep" if knobs.lockstep else "first_done",
    }
    return validate(BlockDiffusion, keys, "decoding")


def diffusion_of(knobs: DenoisingKnobs) -> Diffusion:
    """Return what the knobs mean; raises one sentence where they do not go together."""
    keys = {
        "cache": knobs.cache,
        "denoise_passes": _passes(knobs),
        "block_tokens": None if knobs.one_block else knobs.block_tokens,
        "canvas_tokens": knobs.canvas_tokens or None,
        "early_stop": knobs.early_stop,
        "refresh_every": knobs.refresh_every or None,
        "logits": "all" if knobs.all_logits else "block",
        "stream": "end" if knobs.stream_at_end else "block",
        "batching": "lockstep" if knobs.lockstep else "first_done",
    }
    return validate(Diffusion, keys, "decoding")


def values_of(strategy: BlockDiffusion | Diffusion) -> dict[str, Any] | None:
    """Return the knobs that spell out a strategy; None where they cannot."""
    values = {**_values_of_passes(strategy.denoise_passes), "lockstep": _waits(strategy)}
    if isinstance(strategy, BlockDiffusion):
        values |= {
            "block_tokens": strategy.block_tokens,
            "blocks_in_flight": strategy.blocks_in_flight,
            "self_conditioning": strategy.self_conditioning,
        }
    else:
        one_block = strategy.block_tokens is None
        values |= {
            "cache": strategy.cache,
            "canvas_tokens": strategy.canvas_tokens or 0,
            "one_block": one_block,
            "early_stop": strategy.early_stop,
            "refresh_every": strategy.refresh_every or 0,
            "all_logits": strategy.logits == "all",
            "stream_at_end": strategy.stream == "end",
            **({} if one_block else {"block_tokens": strategy.block_tokens}),
        }
    return values if _same(strategy, values) else None


def _waits(strategy: BlockDiffusion | Diffusion) -> bool:
    return strategy.batching == "lockstep"


def _values_of_passes(given: Any) -> dict[str, Any]:  # noqa: ANN401  # a union with tags
    if isinstance(given, TokensPerPass):
        return {"schedule": SPEED, "tokens_per_pass": given.tokens_per_pass}
    if isinstance(given, Measured):
        return {"schedule": MEASURED, "measured_passes": ", ".join(map(str, given.measured))}
    if isinstance(given, Published):
        return {"schedule": PUBLISHED, "denoise_row": _label(given.table, given.row)}
    return {"schedule": PASSES, "denoise_passes": given}


def _same(strategy: BlockDiffusion | Diffusion, values: Mapping[str, Any]) -> bool:
    """Tell whether the knobs give the same strategy back, sources aside."""
    names = {field.name for field in fields(DenoisingKnobs)}
    knobs = DenoisingKnobs(**{k: v for k, v in values.items() if k in names})
    again: BlockDiffusion | Diffusion = (
        block_diffusion_of(knobs) if isinstance(strategy, BlockDiffusion) else diffusion_of(knobs)
    )
    own = {name: getattr(strategy, name) for name in ("model", "what_if", "denoise_passes")}
    return again.model_copy(update=own) == strategy


def _passes(knobs: DenoisingKnobs) -> Any:  # noqa: ANN401  # a number or keys
    if knobs.schedule == PASSES:
        return knobs.denoise_passes
    if knobs.schedule == SPEED:
        return {"tokens_per_pass": knobs.tokens_per_pass, "source": SOURCE}
    if knobs.schedule == MEASURED:
        return {"measured": _measured(knobs.measured_passes), "source": SOURCE}
    if knobs.denoise_row not in rows():
        raise InputError("no row of a published table is chosen", where="Published figure")
    table, row = rows()[knobs.denoise_row]
    known = {key: getattr(row, key) for key in ROW_KEYS if getattr(row, key) is not None}
    return {"table": table, **known}


def _measured(text: str) -> list[int]:
    """Return the passes of blocks; raises one sentence where there are none."""
    fault = InputError(
        f"expected the passes of some blocks with commas between, found {text!r}",
        where="Passes of blocks",
        remedy="for example 8, 9, 12",
    )
    passes = numbers_of(text, int, fault)
    if not passes:
        raise fault
    return passes


def _label(table: str, row: DenoiseRow) -> str:
    """Return a row in words that no other row has.

    >>> next(iter(rows_of("llada-8b")))
    'llada-8b, any'
    """
    words = [table, row.domain]
    words += [f"threshold {row.threshold:g}"] if row.threshold is not None else []
    words += [row.mode] if row.mode else []
    words += [f"blocks of {row.block_tokens}"] if row.block_tokens else []
    return ", ".join(words)
