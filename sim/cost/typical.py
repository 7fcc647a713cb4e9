"""Loads of like sequences: what `explain`, the ridge and figures look at."""

from sim.cost.forward_pass import ForwardPass
from sim.cost.pass_load import PassLoad


def even_load(
    cost: ForwardPass,
    sequences: int,
    context_tokens: float,
    queries: int = 1,
    *,
    logit_positions: float | None = None,
    pairs: float | None = None,
) -> PassLoad:
    """Return a decode pass of like sequences that each read `context_tokens` of KV.

    Per sequence: `queries` positions, `logit_positions` of them with logits (all if None), and
    `pairs` of query and key (every query sees the whole context if None).
    """
    made = queries * context_tokens if pairs is None else pairs
    capped = tuple(
        (
            sequences * min(context_tokens, reach + queries - 1.0),
            sequences * min(made, float(queries * reach)),
        )
        for reach in cost.reaches
    )
    return PassLoad(
        sequences,
        sequences * queries,
        sequences * (queries if logit_positions is None else logit_positions),
        sequences * context_tokens,
        sequences * made,
        capped=capped,
    )


def even_prompt(cost: ForwardPass, tokens: int) -> PassLoad:
    """Return the pass that computes one prompt of `tokens` whole."""

    def within(reach: int) -> tuple[float, float]:
        growing = min(tokens, reach)
        pairs = growing * (growing + 1) / 2 + (tokens - growing) * reach
        return float(tokens), pairs

    return PassLoad(
        *(0, 0, 0.0, 0.0, 0.0, 1, tokens, *within(tokens)),
        prefill_capped=tuple(map(within, cost.reaches)),
    )
