"""What one pass holds and what one sequence keeps, counted sequence by sequence and key by key."""

from math import ceil

from sim.cost import ForwardPass, KvShape, PassLoad
from sim.decoding import DraftWork, Phase

ALL = 1 << 60
"""A reach that nothing exceeds."""
ROUNDING = 1e-6
Decoding = list[tuple[float, Phase]]
"""KV tokens before the pass, and the phase, of each sequence that decodes."""
Prompts = list[tuple[int, int]]
"""Tokens in the pass, and tokens before it, of each prompt chunk."""


def blocks(tokens: float, kv: KvShape) -> float:
    """Whole blocks in the layers that keep all tokens and in each window, and the fixed state."""
    needed = kv.sequence_blocks
    if kv.full:
        needed += ceil((tokens - ROUNDING) / kv.block_tokens)
    for window, weight in kv.windows:
        needed += weight * ceil((min(tokens, window) - ROUNDING) / kv.block_tokens)
    return needed


def read(kv: float, phase: Phase, reach: int) -> float:
    """Keys that are read once for all positions of the pass, which stand one after the other.

    The first of them sees `reach` keys up to its own, each later one a key more.
    """
    return min(kv + phase.read_extra, reach + phase.positions - 1)


def pairs(kv: float, phase: Phase, reach: int) -> float:
    """No position pairs with more than `reach` keys."""
    return min(phase.positions * kv + phase.pair_extra, phase.positions * reach)


def chunk_read(chunk: int, before: int, reach: int) -> int:
    """The last `reach` keys before and with the first token, and every one after it."""
    first_seen = max(0, before + 1 - reach)
    return before + chunk - first_seen


def chunk_pairs(chunk: int, before: int, reach: int) -> int:
    """Token by token, each sees itself and those before it."""
    return sum(min(before + number + 1, reach) for number in range(chunk))


def pass_load(decoding: Decoding, prompts: Prompts, reaches: tuple[int, ...]) -> PassLoad:
    """Return all that one pass of the served model holds."""

    def within(reach: int) -> tuple[float, float]:
        return (
            sum(read(kv, phase, reach) for kv, phase in decoding),
            sum(pairs(kv, phase, reach) for kv, phase in decoding),
        )

    def chunks_within(reach: int) -> tuple[float, float]:
        return (
            float(sum(chunk_read(chunk, before, reach) for chunk, before in prompts)),
            float(sum(chunk_pairs(chunk, before, reach) for chunk, before in prompts)),
        )

    return PassLoad(
        len(decoding),
        sum(phase.positions for _, phase in decoding),
        sum(phase.logit_positions for _, phase in decoding),
        *within(ALL),
        len(prompts),
        sum(chunk for chunk, _ in prompts),
        *chunks_within(ALL),
        tuple(map(within, reaches)),
        tuple(map(chunks_within, reaches)),
    )


def draft_s(cost: ForwardPass, load: PassLoad, work: DraftWork) -> float:
    """Time of a drafter's passes, one after the other, priced by `cost`.

    Each reads the same KV, and pairs every token of it with every position that it brings. The
    first takes the prompts along, if the drafter goes through prompts at all.
    """
    total, prompts = 0.0, work.prefills
    for times, positions, logits in work.passes:
        for _ in range(times):
            total += cost.pass_s(_draft_load(load, positions, logits, prompts=prompts))
            prompts = False
            if not load.sequences:
                return total
    return total


def _draft_load(load: PassLoad, positions: int, logits: int, *, prompts: bool) -> PassLoad:
    drafting = load._replace(
        positions=load.sequences * positions,
        logit_positions=load.sequences * logits,
        pairs=positions * load.context_tokens,
        capped=tuple((tokens, positions * tokens) for tokens, _ in load.capped),
    )
    if prompts:
        return drafting
    return drafting._replace(
        prefill_sequences=0, prefill_tokens=0, prefill_context_tokens=0.0, prefill_pairs=0.0
    )


def verified(load: PassLoad, share: float) -> PassLoad:
    """A pass in which only a share of the positions is verified, while all KV is read."""
    if share == 1.0:
        return load
    positions = round(share * load.positions)
    return load._replace(
        positions=positions,
        logit_positions=positions,
        pairs=share * load.pairs,
        capped=tuple((tokens, share * pairs) for tokens, pairs in load.capped),
    )
