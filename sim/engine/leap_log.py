"""Leaps as they start, written into the log: the batch and the prompts of their first pass."""

from sim.engine.batch import DecodeBatch
from sim.engine.log import LEAP, Log
from sim.engine.pricing import Leap

_ROW = LEAP.pack
Times = tuple[float, float, float, int, float]
"""When like passes ran: start, time of the first, how much longer each later one is, how many;
and what of the first is billed to input; s.
"""


def log_decode(log: Log, replica: int, batch: DecodeBatch, leap: Leap) -> None:
    """Write down a leap that only decodes."""
    log.leaps += _ROW(
        replica,
        leap.start_s,
        leap.first_s,
        leap.slope_s,
        leap.passes,
        len(batch.members),
        leap.verified * batch.positions,
        leap.verified * batch.logit_positions,
        batch.read,
        batch.growth,
        leap.verified * batch.pairs,
        leap.verified * batch.pairs_growth,
        batch.held,
        0.0,
        leap.draft_s,
        leap.draft_slope_s,
    )
    if batch.reaches:
        for reach in batch.reaches:
            read, pairs, growth, pairs_growth = reach.state
            share = leap.verified
            log.reach(read, growth, share * pairs, share * pairs_growth)


def log_mixed(log: Log, replica: int, batch: DecodeBatch, leap: Leap) -> None:
    """Write down one pass with prompt chunks."""
    times = leap.start_s, leap.first_s, leap.slope_s, leap.passes, leap.prefill_s
    log_passes(log, replica, batch, leap, times)


def log_passes(log: Log, replica: int, batch: DecodeBatch, leap: Leap, times: Times) -> None:
    """Write down passes that hold what `leap` was priced for, and took what `times` say."""
    start_s, first_s, slope_s, passes, prefill_s = times
    share = leap.verified
    log.leaps += _ROW(
        replica,
        start_s,
        first_s,
        slope_s,
        passes,
        len(batch.members) + leap.prefill_sequences,
        share * batch.positions + leap.prefill_tokens,
        share * batch.logit_positions + leap.prefill_sequences,
        batch.read + leap.prefill_context,
        batch.growth,
        share * batch.pairs + leap.prefill_pairs,
        share * batch.pairs_growth,
        batch.held + leap.prefill_held,
        prefill_s,
        leap.draft_s,
        leap.draft_slope_s,
    )
    if batch.reaches:
        for reach, (read, pairs) in zip(batch.reaches, leap.prefill_capped, strict=True):
            own_read, own_pairs, growth, pairs_growth = reach.state
            own_pairs, pairs_growth = share * own_pairs, share * pairs_growth
            log.reach(own_read + read, growth, own_pairs + pairs, pairs_growth)
