"""Which products and which heads a model needs timed, so that its own shapes are measured."""

from sim.errors import InputError
from sim.model import Model, load_model
from sim.model.mixers import GroupedQuery
from sim.model.mlps import DenseMlp, Experts

WIDTHS = (1, 4)
"""Tensor-parallel widths whose share of each matrix is timed."""


def shapes_of_model(reference: str) -> tuple[tuple[tuple[int, int], ...], tuple[int, int, int]]:
    """Return the products (N, K) of a model on one GPU and on four, and its attention heads.

    Its routed experts and recurrent layers are left out: torch has no kernel of theirs.
    """
    model = load_model(reference)
    found: dict[tuple[int, int], None] = {}
    heads: tuple[int, int, int] | None = None
    for group in model.groups:
        mixer, mlp = group.layer.mixer, group.layer.mlp
        if isinstance(mixer, GroupedQuery):
            heads = heads or (mixer.heads, mixer.kv_heads, mixer.head_dim)
        for width in WIDTHS:
            found.update(dict.fromkeys(_attention(mixer, model, width)))
            found.update(dict.fromkeys(_mlp(mlp, model, width)))
    if heads is None or not found:
        raise InputError(
            f"{model.name} has no grouped-query attention, the only kind that torch can time",
            where="--model",
            remedy="name another model, or none",
        )
    found[model.vocab_size, model.hidden_size] = None
    return tuple(found), heads


def _attention(mixer: object, model: Model, width: int) -> list[tuple[int, int]]:
    if not isinstance(mixer, GroupedQuery):
        return []
    kv = max(1, mixer.kv_heads // width)
    inward = mixer.heads // width * mixer.head_dim + kv * (mixer.head_dim + mixer.value_dim)
    outward = mixer.heads // width * mixer.value_dim
    return [(inward, model.hidden_size), (model.hidden_size, outward)]


def _mlp(mlp: object, model: Model, width: int) -> list[tuple[int, int]]:
    if isinstance(mlp, DenseMlp):
        wide = mlp.intermediate_size // width
    elif isinstance(mlp, Experts) and mlp.shared_intermediate_size:
        wide = mlp.shared_intermediate_size // width
    else:
        return []
    return [((2 if mlp.gated else 1) * wide, model.hidden_size), (model.hidden_size, wide)]
