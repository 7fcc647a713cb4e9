"""Where a pass turns from memory-bound to compute-bound."""

from sim.cost.forward_pass import ForwardPass, PassLoad

_MOST_TOKENS = 1 << 20


def ridge_tokens_per_pass(cost: ForwardPass, *, context_tokens: float, queries: int = 1) -> int | None:
    """Return the fewest query positions in a pass whose compute time exceeds its memory time.

    Each sequence brings `queries` positions and reads `context_tokens` of KV. None where there is no ridge:
    with a long context the KV read grows as fast as the arithmetic.
    """

    def compute_bound(sequences: int) -> bool:
        seconds = {"memory": 0.0, "compute": 0.0}
        load = PassLoad(
            sequences,
            sequences * queries,
            sequences * queries,
            sequences * context_tokens,
            sequences * queries * context_tokens,
        )
        for operation in cost.operations(load):
            memory_s = operation.bytes_moved / cost.bandwidth
            compute_s = operation.flop / cost.peak_flop_per_s(operation.name)
            if operation.bound != "collective":
                seconds["memory"] += operation.count * memory_s
                seconds["compute"] += operation.count * compute_s
        return seconds["compute"] > seconds["memory"]

    if not compute_bound(_MOST_TOKENS // queries):
        return None
    low, high = 0, _MOST_TOKENS // queries
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if compute_bound(middle) else (middle, high)
    return high * queries
