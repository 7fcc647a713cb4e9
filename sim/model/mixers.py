"""What lets a token look at the others: attention with a KV cache, a latent, or a running state.

Counts are in elements (weights, cache entries), never in bytes: precision belongs to the
checkpoint and the deployment.
"""

from dataclasses import dataclass
from typing import Literal

RecurrentKind = Literal["gated_delta", "mamba1", "mamba2", "lightning"]


@dataclass(frozen=True, slots=True)
class GroupedQuery:
    """Softmax attention with K and V of each KV head in the cache: MHA, GQA and MQA."""

    heads: int
    """Query heads."""
    kv_heads: int
    head_dim: int
    """Width of a query and of a key."""
    value_dim: int
    """Width of a value; equal to `head_dim` in nearly every model."""
    window_tokens: int | None = None
    """Tokens back that it sees, itself included (sliding window or chunk); None: all of them."""
    qk_norm_elements: int = 0
    """Weights of the norms of queries and keys."""
    bias_elements: int = 0
    """Biases of the q, k, v and o projections together."""
    output_gate: bool = False
    """The query projection is twice as wide; its other half gates the output (Qwen3-Next)."""
    sinks: bool = False
    """One learned logit per head joins the softmax (gpt-oss)."""
    value_is_key: bool = False
    """There is no value projection: values are the keys' projection. Both are still cached
    (Gemma 4's global layers)."""
    chunked: bool = False
    """`window_tokens` is a fixed chunk, not a sliding window: on average half of it is seen
    (Llama 4)."""

    def query_elements(self, hidden_size: int) -> int:
        """Weights of the query projection, its gate included."""
        return hidden_size * self.heads * self.head_dim * (2 if self.output_gate else 1)

    def key_value_elements(self, hidden_size: int) -> int:
        """Weights of the key and value projections."""
        width = self.head_dim if self.value_is_key else self.head_dim + self.value_dim
        return hidden_size * self.kv_heads * width

    def output_elements(self, hidden_size: int) -> int:
        """Weights of the output projection."""
        return self.heads * self.value_dim * hidden_size

    def matrix_elements(self, hidden_size: int) -> int:
        """Weights that take part in matrix products: q, k, v and o."""
        return (
            self.query_elements(hidden_size)
            + self.key_value_elements(hidden_size)
            + self.output_elements(hidden_size)
        )

    @property
    def other_elements(self) -> int:
        """Weights beside the matrices: norms, biases, sinks."""
        return self.qk_norm_elements + self.bias_elements + (self.heads if self.sinks else 0)

    @property
    def kv_elements_per_token(self) -> int:
        """Cache entries of one token in one layer: K and V of every KV head."""
        return self.kv_heads * (self.head_dim + self.value_dim)


@dataclass(frozen=True, slots=True)
class Latent:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): one latent per token is cached.

    Every query head reads the same latent, so the cache is replicated on each tensor-parallel
    rank. In decode the up-projections are absorbed: scores and values work at the latent's width.
    """

    heads: int
    query_rank: int | None
    """Width of the compressed query; None: queries are projected in one step (V2-Lite)."""
    kv_rank: int
    """Width of the latent without its rotary part."""
    nope_dim: int
    """Width of a query head without position."""
    rope_dim: int
    """Width of the rotary part, one for all heads."""
    value_dim: int
    top_k_tokens: int | None = None
    """Sparse attention: tokens that a query attends to, chosen by the indexer (DeepSeek-V3.2);
    None: all."""
    indexer_heads: int = 0
    indexer_dim: int = 0
    bias_elements: int = 0

    def query_elements(self, hidden_size: int) -> int:
        """Weights of the query path: down and up, or one matrix."""
        width = self.heads * (self.nope_dim + self.rope_dim)
        if self.query_rank is None:
            return hidden_size * width
        return (hidden_size + width) * self.query_rank

    def down_elements(self, hidden_size: int) -> int:
        """Weights of the projection to the latent and its rotary part (replicated per rank)."""
        return hidden_size * (self.kv_rank + self.rope_dim)

    def up_elements(self) -> int:
        """Weights from the latent to the keys and values of every head."""
        return self.kv_rank * self.heads * (self.nope_dim + self.value_dim)

    def output_elements(self, hidden_size: int) -> int:
        """Weights of the output projection."""
        return self.heads * self.value_dim * hidden_size

    def indexer_elements(self, hidden_size: int) -> int:
        """Weights of the indexer: its queries (from the compressed query), key and head weights.

        DeepSeek-V3.2 `Indexer`: wq_b, wk, weights_proj; the LayerNorm of the key is counted in
        `other_elements`.
        """
        source = hidden_size if self.query_rank is None else self.query_rank
        query = source * self.indexer_heads * self.indexer_dim
        return query + hidden_size * (self.indexer_dim + self.indexer_heads)

    def matrix_elements(self, hidden_size: int) -> int:
        """Weights that take part in matrix products, the indexer's included."""
        return (
            self.query_elements(hidden_size)
            + self.down_elements(hidden_size)
            + self.up_elements()
            + self.output_elements(hidden_size)
            + self.indexer_elements(hidden_size)
        )

    @property
    def other_elements(self) -> int:
        """Norms of the compressed query and of the latent, LayerNorm of the indexer, biases."""
        return (self.query_rank or 0) + self.kv_rank + 2 * self.indexer_dim + self.bias_elements

    @property
    def kv_elements_per_token(self) -> int:
        """Cache entries of one token in one layer: the latent and its rotary part."""
        return self.kv_rank + self.rope_dim

    @property
    def indexer_elements_per_token(self) -> int:
        """Keys of the indexer that are cached per token and layer, beside the latent.

        Engines keep them in FP8 whatever the precision of the latent.
        """
        return self.indexer_dim


@dataclass(frozen=True, slots=True)
class Recurrent:
    """Linear attention or state space: a state of fixed size per sequence, no KV cache."""

    kind: RecurrentKind
    input_elements: int
    """Weights of the input projections (GEMMs from the hidden size)."""
    output_elements: int
    """Weights of the output projection."""
    other_elements: int
    """Convolution, decay, step sizes, norms and biases."""
    state_elements: int
    """Recurrent state per sequence and layer."""
    conv_state_elements: int
    """Inputs of the short convolution kept per sequence and layer."""
    flop_per_token: float
    """FLOP of the recurrence itself, beyond the GEMMs: update and read of the state; see
    `sim.model.recurrences` for the formulas and their sources."""
    inner_elements: int = 0
    """Weights of small matrices between the two projections (Mamba-1: x_proj and dt_proj)."""

    def matrix_elements(self, _hidden_size: int) -> int:
        """Weights that take part in matrix products."""
        return self.input_elements + self.inner_elements + self.output_elements

    @property
    def sequence_elements(self) -> int:
        """State and convolution inputs kept per sequence and layer."""
        return self.state_elements + self.conv_state_elements


Mixer = GroupedQuery | Latent | Recurrent
