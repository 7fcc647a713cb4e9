"""Count first: FLOP and bytes of the operations of a pass, exactly, on one rank."""

from dataclasses import dataclass

from sim.model import Model

ACTIVATION_BYTES = 2.0
"""Activations between layers stay in bf16 in every engine."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one operation does on one GPU."""

    flop: float
    weight_bytes: float
    activation_bytes: float

    @property
    def bytes_moved(self) -> float:
        """Bytes to and from GPU memory."""
        return self.weight_bytes + self.activation_bytes


@dataclass(frozen=True, slots=True)
class Gemm:
    """A matrix product [tokens, inner] x [inner, outer] with stored weights, per rank."""

    name: str
    inner: int
    outer: float
    weight_bytes_per_element: float
    input_bytes_per_element: float = ACTIVATION_BYTES

    @property
    def weight_elements(self) -> float:
        """Elements of the weight matrix."""
        return self.inner * self.outer

    def work(self, tokens: float) -> Work:
        """FLOP = 2 M N K; weights read once, inputs read and outputs written once."""
        return Work(
            flop=2.0 * tokens * self.weight_elements,
            weight_bytes=self.weight_elements * self.weight_bytes_per_element,
            activation_bytes=tokens
            * (self.inner * self.input_bytes_per_element + self.outer * ACTIVATION_BYTES),
        )


@dataclass(frozen=True, slots=True)
class RankShape:
    """What one of `tensor_parallel` ranks holds of the model."""

    heads: int
    kv_heads: int
    """At least one: KV is replicated where ranks outnumber the KV heads."""
    kv_elements_per_token: float
    """K and V of all layers on this rank."""


def rank_shape(model: Model, tensor_parallel: int) -> RankShape:
    """Split the attention heads over the ranks."""
    kv_heads = max(1, model.kv_heads // tensor_parallel)
    return RankShape(
        heads=model.heads // tensor_parallel,
        kv_heads=kv_heads,
        kv_elements_per_token=2.0 * model.layers * kv_heads * model.head_dim,
    )


def layer_gemms(
    model: Model, tensor_parallel: int, weight_bytes: float, input_bytes: float
) -> tuple[Gemm, ...]:
    """Return the four matrix products of a layer, per rank."""
    rank = rank_shape(model, tensor_parallel)
    query = rank.heads * model.head_dim
    key_value = 2 * rank.kv_heads * model.head_dim
    inter = model.intermediate_size / tensor_parallel
    return (
        Gemm("qkv projection", model.hidden_size, query + key_value, weight_bytes, input_bytes),
        Gemm("output projection", query, model.hidden_size, weight_bytes, input_bytes),
        Gemm("gate and up projection", model.hidden_size, 2 * inter, weight_bytes, input_bytes),
        Gemm("down projection", round(inter), model.hidden_size, weight_bytes, input_bytes),
    )


def head_gemm(model: Model, tensor_parallel: int) -> Gemm:
    """Return the LM head, per rank; checkpoints keep it in bf16 when the layers are quantised."""
    return Gemm("lm head", model.hidden_size, model.vocab_size / tensor_parallel, ACTIVATION_BYTES)


def attention_flop(model: Model, heads: int, pairs: float) -> float:
    """FLOP = 2 heads (d_qk + d_v) per query x key pair, one layer."""
    return 4.0 * heads * model.head_dim * pairs


def kv_read_bytes(model: Model, kv_heads: int, tokens: float, kv_bytes: float) -> float:
    """KV is read once per pass and sequence, not once per query position; one layer."""
    return 2.0 * kv_heads * model.head_dim * kv_bytes * tokens


def small_kernel_bytes(model: Model, tensor_parallel: int, tokens: float) -> float:
    """Bytes of norms, rotary embedding and activation of one layer, between the GEMMs.

    Two fused residual norms read 2 and write 2 tensors of the hidden size each; the gated
    activation reads two and writes one tensor of the intermediate size.
    """
    per_token = 8 * model.hidden_size + 3 * model.intermediate_size / tensor_parallel
    return ACTIVATION_BYTES * per_token * tokens
