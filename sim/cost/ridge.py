"""Where a pass turns from memory-bound to compute-bound."""

from sim.cost.forward_pass import ForwardPass
from sim.cost.typical import even_load

_MOST_TOKENS = 1 << 20


def ridge_tokens_per_pass(
    cost: ForwardPass, *, context_tokens: float, queries: int = 1
) -> int | None:
    """Return the fewest positions of a pass whose arithmetic outlasts its memory traffic.

    Each sequence brings `queries` positions and reads `context_tokens` of KV. None where there
    is no ridge: with a long context the KV read grows as fast as the arithmetic.
    """

    def compute_bound(sequences: int) -> bool:
        operations = cost.operations(even_load(cost, sequences, context_tokens, queries))
        compute_s = sum(operation.count * operation.compute_s for operation in operations)
        memory_s = sum(operation.count * operation.memory_s for operation in operations)
        return compute_s > memory_s

    low, high = 0, max(1, _MOST_TOKENS // queries)
    if not compute_bound(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if compute_bound(middle) else (middle, high)
    return high * queries
