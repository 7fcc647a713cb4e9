"""What the memory of each GPU holds, as a table."""

from sim.report.table import Table, columns
from sim.report.words import count
from sim.scenario import Serving
from sim.units import GB


def memory_table(serving: Serving) -> Table:
    """Return what the memory of each GPU holds."""
    memory = serving.memory
    parts = (
        ("weights", memory.weight_bytes),
        ("weights of the drafter", memory.draft_weight_bytes),
        ("reserve of the engine", memory.reserve_bytes),
        ("KV pool", _pool_bytes(serving)),
        ("usable", memory.usable_bytes),
        ("on the GPU", serving.gpu.memory_bytes.value),
    )
    rows = tuple((name, f"{size / GB:.1f}") for name, size in parts if size)
    pool = f"The KV pool holds {count(memory.pool_tokens)} tokens"
    note = f"{pool}, at {count(memory.kv_bytes_per_token)} bytes each on a GPU"
    return Table("Memory of each GPU", columns("<", "GB"), rows, note)


def _pool_bytes(serving: Serving) -> float:
    """Return the KV pool on one GPU: its blocks are counted in layers that keep every token."""
    memory, shape = serving.memory, serving.memory.kv
    layers = shape.full + sum(weight for _, weight in shape.windows)
    if not layers:
        return 0.0
    groups = serving.cost.deployment.attention_data_parallel  # each has a pool of its own
    token_bytes = memory.kv_bytes_per_token / layers
    return memory.blocks / groups * memory.block_tokens * token_bytes
