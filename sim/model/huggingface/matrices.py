"""The matrices of a layer by the names that checkpoints give them, for lists of modules."""

from collections.abc import Iterator

from sim.model.architecture import Layer
from sim.model.mixers import GroupedQuery, Latent, Recurrent
from sim.model.mlps import DenseMlp, Experts
from sim.model.weight_format import Part

Matrix = tuple[Part, int, tuple[str, ...]]
"""The part it belongs to, its elements, and the names that it may bear inside its layer."""

_ATTENTION = ("self_attn", "attention", "attn", "mixer")
_MLP = ("mlp", "feed_forward", "block_sparse_moe", "mixer")


def matrices(layer: Layer, hidden_size: int) -> Iterator[Matrix]:
    """Yield the matrices of a layer."""
    match layer.mixer:
        case GroupedQuery() as mixer:
            yield from _grouped_query(mixer, hidden_size)
        case Latent() as mixer:
            yield from _latent(mixer, hidden_size)
        case Recurrent() as mixer:
            yield from _recurrent(mixer)
        case None:
            pass
    match layer.mlp:
        case DenseMlp() as mlp:
            yield from _both_ways(
                "dense_mlp", mlp.matrix_elements(hidden_size), ("",), gated=mlp.gated
            )
        case Experts() as mlp:
            yield from _experts(mlp, hidden_size)
        case None:
            pass


def _in(parents: tuple[str, ...], *names: str) -> tuple[str, ...]:
    return tuple(f"{parent}.{name}" for parent in parents for name in names)


def _grouped_query(mixer: GroupedQuery, hidden_size: int) -> Iterator[Matrix]:
    fused = ("qkv_proj", "query_key_value", "qkv")
    query = _in(_ATTENTION, "q_proj", *fused)
    yield "attention", mixer.query_elements(hidden_size), query
    both = mixer.key_value_elements(hidden_size)
    if mixer.value_is_key:
        yield "attention", both, _in(_ATTENTION, "k_proj", *fused)
    else:
        yield "attention", both // 2, _in(_ATTENTION, "k_proj", *fused)
        yield "attention", both // 2, _in(_ATTENTION, "v_proj", *fused)
    out = _in(_ATTENTION, "o_proj", "dense", "out_proj")
    yield "attention_output", mixer.output_elements(hidden_size), out


def _latent(mixer: Latent, hidden_size: int) -> Iterator[Matrix]:
    query = mixer.query_elements(hidden_size)
    if mixer.query_rank is None:
        yield "attention", query, ("self_attn.q_proj",)
    else:
        down = mixer.query_rank * hidden_size
        yield "attention", down, _in(("self_attn",), "q_a_proj", "fused_qkv_a_proj_with_mqa")
        yield "attention", query - down, ("self_attn.q_b_proj",)
    latent = _in(("self_attn",), "kv_a_proj_with_mqa", "fused_qkv_a_proj_with_mqa")
    yield "attention", mixer.down_elements(hidden_size), latent
    yield "attention", mixer.up_elements(), ("self_attn.kv_b_proj",)
    if mixer.indexer_heads:
        yield "attention", mixer.indexer_elements(hidden_size), ("self_attn.indexer.wq_b",)
    yield "attention_output", mixer.output_elements(hidden_size), ("self_attn.o_proj",)


def _recurrent(mixer: Recurrent) -> Iterator[Matrix]:
    parents = ("linear_attn", "mamba", "mixer", "self_attn")
    into = _in(parents, "in_proj", "in_proj_qkvz", "in_proj_qkv", "qkv_proj")
    yield "recurrent", mixer.input_elements + mixer.inner_elements, into
    yield "recurrent", mixer.output_elements, _in(parents, "out_proj")


def _experts(mlp: Experts, hidden_size: int) -> Iterator[Matrix]:
    # `experts.0` stands for all of them: no quantiser treats two experts of a layer differently.
    routed = mlp.experts * mlp.expert_elements(hidden_size)
    yield from _both_ways("experts", routed, ("experts.", "experts.0."), gated=mlp.gated)
    if mlp.shared_intermediate_size:
        shared = mlp.shared_elements(hidden_size)
        names = ("shared_expert.", "shared_experts.")
        yield from _both_ways("shared_experts", shared, names, gated=mlp.gated)


def _both_ways(
    part: Part, elements: int, insides: tuple[str, ...], *, gated: bool
) -> Iterator[Matrix]:
    """Gate and up, then down: two thirds and one, or a half each."""
    down = elements // (3 if gated else 2)
    up = ("gate_proj", "up_proj", "gate_up_proj", "w1", "w3")
    yield part, elements - down, _in(_MLP, *(f"{i}{name}" for i in insides for name in up))
    yield part, down, _in(_MLP, *(f"{i}{name}" for i in insides for name in ("down_proj", "w2")))
