"""Count first: FLOP and bytes of the matrix products of a layer, exactly, on one rank."""

from dataclasses import dataclass
from typing import Generic

from sim.cost.formats import StoredAs
from sim.cost.layout import Layout
from sim.cost.roofline import Number
from sim.model import DenseMlp, Experts, GroupedQuery, Latent, Mlp, Model, Recurrent
from sim.model.mixers import Mixer
from sim.model.weight_format import Part

ACTIVATION_BYTES = 2.0
"""Activations between layers stay in 16 bits in every engine."""
PLAIN = StoredAs("bf16", "bf16")
"""Router, LM head and whatever else checkpoints do not quantise."""


@dataclass(frozen=True)
class Work(Generic[Number]):
    """What one operation does on one GPU, at one number of tokens or at many."""

    flop: Number
    weight_bytes: float
    activation_bytes: Number

    @property
    def bytes_moved(self) -> Number:
        """Bytes to and from GPU memory."""
        return self.weight_bytes + self.activation_bytes


@dataclass(frozen=True, slots=True)
class Gemm:
    """A matrix product [tokens, inner] x [inner, outer] with stored weights, per rank."""

    name: str
    inner: float
    outer: float
    format: StoredAs

    @property
    def weight_elements(self) -> float:
        """Elements of the weight matrix."""
        return self.inner * self.outer

    def work(self, tokens: Number) -> Work[Number]:
        """FLOP = 2 M N K; weights read once, inputs read and outputs written once."""
        moved = self.inner * self.format.input_bytes + self.outer * ACTIVATION_BYTES
        return Work(
            flop=2.0 * tokens * self.weight_elements,
            weight_bytes=self.weight_elements * self.format.weight_bytes,
            activation_bytes=tokens * moved,
        )


Formats = dict[Part, StoredAs]


def mixer_gemms(mixer: Mixer | None, hidden: int, layout: Layout, formats: Formats) -> list[Gemm]:
    """Return the projections of an attention or recurrent layer, per rank."""
    match mixer:
        case GroupedQuery():
            return _grouped_query(mixer, hidden, layout, formats)
        case Latent():
            return _latent(mixer, hidden, layout, formats)
        case Recurrent():
            return _recurrent(mixer, hidden, layout.tensor, formats["recurrent"])
        case None:
            return []


def _recurrent(mixer: Recurrent, hidden: int, ranks: int, stored: StoredAs) -> list[Gemm]:
    inner = mixer.output_elements / hidden / ranks
    gemms = [Gemm("input projection", hidden, mixer.input_elements / hidden / ranks, stored)]
    if mixer.inner_elements:
        width = mixer.inner_elements / ranks / inner
        gemms.append(Gemm("inner projections", inner, width, stored))
    return [*gemms, Gemm("output projection", inner, hidden, stored)]


def _grouped_query(
    mixer: GroupedQuery, hidden: int, layout: Layout, formats: Formats
) -> list[Gemm]:
    heads, kv_heads = layout.heads(mixer.heads), layout.kv_heads(mixer.kv_heads)
    query = heads * mixer.head_dim * (2 if mixer.output_gate else 1)
    key_value = kv_heads * (mixer.head_dim + (0 if mixer.value_is_key else mixer.value_dim))
    into, out = formats["attention"], formats["attention_output"]
    return [
        Gemm("qkv projection", hidden, query + key_value, into),
        Gemm("output projection", heads * mixer.value_dim, hidden, out),
    ]


def _latent(mixer: Latent, hidden: int, layout: Layout, formats: Formats) -> list[Gemm]:
    """Down-projections are replicated on every rank; the rest is split by heads."""
    heads, stored = layout.heads(mixer.heads), formats["attention"]
    query = heads * (mixer.nope_dim + mixer.rope_dim)
    down = mixer.kv_rank + mixer.rope_dim
    gemms = [Gemm("latent down projection", hidden, down + (mixer.query_rank or 0), stored)]
    source = mixer.query_rank or hidden
    gemms.append(Gemm("query projection", source, query, stored))
    if mixer.indexer_heads:
        gemms += [
            Gemm("indexer queries", source, mixer.indexer_heads * mixer.indexer_dim, stored),
            Gemm("indexer keys", hidden, mixer.indexer_dim + mixer.indexer_heads, stored),
        ]
    return [
        *gemms,
        # absorbed: a batched product before attention and one after it
        Gemm("latent key projection", mixer.kv_rank, heads * mixer.nope_dim, stored),
        Gemm("latent value projection", mixer.kv_rank, heads * mixer.value_dim, stored),
        Gemm("output projection", heads * mixer.value_dim, hidden, formats["attention_output"]),
    ]


def mlp_gemms(mlp: Mlp | None, hidden: int, layout: Layout, formats: Formats) -> list[Gemm]:
    """Return the products that every token goes through: a dense MLP, or router and shared."""
    match mlp:
        case DenseMlp():
            width, gated = mlp.intermediate_size, mlp.gated
            return _gated(("", width, gated), hidden, layout.tensor, formats["dense_mlp"])
        case Experts():
            gemms = [Gemm("router", hidden, mlp.experts, PLAIN)]
            if mlp.shared_intermediate_size:
                shared = ("shared ", mlp.shared_intermediate_size, mlp.gated)
                gemms += _gated(shared, hidden, layout.tensor, formats["shared_experts"])
            if mlp.latent_size:
                both = Gemm("expert latent", hidden, 2 * mlp.latent_size, formats["experts"])
                gemms.append(both)
            return gemms
        case None:
            return []


def _gated(mlp: tuple[str, int, bool], hidden: int, ranks: int, stored: StoredAs) -> list[Gemm]:
    label, width, gated = mlp
    name = "gate and up projection" if gated else "up projection"
    return [
        Gemm(f"{label}{name}", hidden, (2 if gated else 1) * width / ranks, stored),
        Gemm(f"{label}down projection", width / ranks, hidden, stored),
    ]


def head_gemm(model: Model, layout: Layout) -> Gemm:
    """Return the LM head, per rank; checkpoints keep it in 16 bits."""
    return Gemm("lm head", model.hidden_size, model.vocab_size / layout.tensor, PLAIN)
