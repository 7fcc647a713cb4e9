"""Leaps as they start, written into the log: the batch and the prompts of their first pass."""

from collections.abc import Iterable

from sim.engine.batch import DecodeBatch
from sim.engine.log import LEAP, Log
from sim.engine.pricing import Leap
from sim.engine.sequence import Sequence

_ROW = LEAP.pack


def log_decode(log: Log, replica: int, batch: DecodeBatch, leap: Leap) -> None:
    """Write down a leap that only decodes."""
    log.leaps += _ROW(
        replica,
        leap.start_s,
        leap.first_s,
        leap.slope_s,
        leap.passes,
        len(batch.members),
        batch.positions,
        batch.logit_positions,
        batch.read,
        batch.growth,
        batch.pairs,
        batch.pairs_growth,
        batch.held,
        0.0,
        leap.draft_s,
        leap.draft_slope_s,
    )
    if batch.reaches:
        for reach in batch.reaches:
            read, pairs, growth, pairs_growth = reach.state
            log.reach(read, growth, pairs, pairs_growth)


def log_mixed(
    log: Log,
    replica: int,
    batch: DecodeBatch,
    leap: Leap,
    prefilling: Iterable[Sequence],
) -> None:
    """Write down one pass with prompt chunks."""
    prompts = 0
    for sequence in prefilling:
        prompts += sequence.computed + sequence.chunk
    log.leaps += _ROW(
        replica,
        leap.start_s,
        leap.first_s,
        0.0,
        1,
        len(batch.members) + leap.prefill_sequences,
        batch.positions + leap.prefill_tokens,
        batch.logit_positions + leap.prefill_sequences,
        batch.read + leap.prefill_context,
        batch.growth,
        batch.pairs + leap.prefill_pairs,
        batch.pairs_growth,
        batch.held + prompts,
        leap.prefill_s,
        leap.draft_s,
        0.0,
    )
    if batch.reaches:
        for reach, (read, pairs) in zip(batch.reaches, leap.prefill_capped, strict=True):
            own_read, own_pairs, growth, pairs_growth = reach.state
            log.reach(own_read + read, growth, own_pairs + pairs, pairs_growth)
