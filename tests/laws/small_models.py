"""Made-up models of every kind of layer, whose windows are crossed within a few tokens."""

from functools import cache
from typing import Any

from sim.model import Model, load_model

FULL = {"kind": "grouped_query", "heads": 8, "kv_heads": 4, "head_dim": 128}
MIXERS: dict[str, Any] = {
    "full": FULL,
    "near": {**FULL, "window_tokens": 8},
    "far": {**FULL, "kv_heads": 8, "window_tokens": 50, "chunked": True},
    "latent": {"kind": "latent", "heads": 8, "query_rank": 96, "kv_rank": 192}
    | {"nope_dim": 64, "rope_dim": 32, "value_dim": 64},
    "state": {"kind": "gated_delta", "key_heads": 4, "value_heads": 8}
    | {"key_dim": 64, "value_dim": 64},
}
MIXERS["sparse"] = {**MIXERS["latent"], "top_k_tokens": 16, "indexer_heads": 4, "indexer_dim": 32}
MLPS: dict[str, Any] = {
    "dense": {"kind": "dense", "intermediate_size": 1024},
    "moe": {"kind": "moe", "experts": 8, "active": 2, "intermediate_size": 512}
    | {"shared_intermediate_size": 512},
}
STACKS: dict[str, list[tuple[int, str, str]]] = {
    "windowed": [(3, "near", "moe"), (1, "full", "moe")],
    "twice windowed": [(2, "near", "dense"), (2, "far", "dense"), (1, "full", "dense")],
    "nothing but windows": [(2, "near", "dense")],
    "latent": [(1, "latent", "dense"), (3, "latent", "moe")],
    "sparse": [(1, "sparse", "dense"), (3, "sparse", "moe")],
    "hybrid": [(3, "state", "moe"), (1, "full", "moe")],
    "nothing but states": [(2, "state", "dense")],
    "experts": [(4, "full", "moe")],
}
"""Layers of each model: how many, their mixer and their MLP."""
WITH_EXPERTS = tuple(name for name, stack in STACKS.items() if any(m == "moe" for *_, m in stack))


@cache
def small_model(name: str) -> Model:
    """Return a model of `STACKS`."""
    stack = STACKS[name]
    return load_model(
        {
            "name": name,
            "hidden_size": 512,
            "vocab_size": 1000,
            "max_context_tokens": 100_000,
            "architecture": {
                "mixers": {mixer: MIXERS[mixer] for _, mixer, _ in stack},
                "mlps": {mlp: MLPS[mlp] for *_, mlp in stack},
                "layers": [
                    {"count": count, "mixer": mixer, "mlp": mlp} for count, mixer, mlp in stack
                ],
            },
        }
    )
