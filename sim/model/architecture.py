"""The served model as counted facts: how many elements it has, and where."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    """A dense decoder-only transformer: grouped-query attention and a gated MLP in every layer.

    Counts are in elements (weights, cache entries), never in bytes: precision belongs to the
    deployment.
    """

    name: str
    layers: int
    hidden_size: int
    heads: int
    """Query heads."""
    kv_heads: int
    head_dim: int
    intermediate_size: int
    """Width of the gated MLP (three matrices: gate, up, down)."""
    vocab_size: int
    tied_embeddings: bool
    """The LM head reuses the matrix of the input embeddings."""
    qk_norm: bool
    """Queries and keys pass through an RMS norm each (Qwen3)."""
    max_context_tokens: int
    source: str
    """Where the facts were read."""
    causal: bool = True
    """Attention looks back only. False: bidirectional, as models trained for diffusion."""
    weights: str = "bf16"
    """Precision in which the checkpoint is published."""

    @property
    def qkv_elements(self) -> int:
        """Weights of the query, key and value projections of one layer."""
        return self.hidden_size * (self.heads + 2 * self.kv_heads) * self.head_dim

    @property
    def attention_output_elements(self) -> int:
        """Weights of the output projection of one layer's attention."""
        return self.heads * self.head_dim * self.hidden_size

    @property
    def mlp_elements(self) -> int:
        """Weights of one layer's gated MLP: gate, up and down."""
        return 3 * self.hidden_size * self.intermediate_size

    @property
    def layer_weight_elements(self) -> int:
        """Weights of one layer that take part in matrix products (all but the norms)."""
        return self.qkv_elements + self.attention_output_elements + self.mlp_elements

    @property
    def norm_elements(self) -> int:
        """Weights of all norms: two a layer, one at the end, and those of queries and keys."""
        per_layer = 2 * self.hidden_size + (2 * self.head_dim if self.qk_norm else 0)
        return self.layers * per_layer + self.hidden_size

    @property
    def embedding_elements(self) -> int:
        """Weights of the input embeddings."""
        return self.vocab_size * self.hidden_size

    @property
    def head_elements(self) -> int:
        """Weights that the LM head multiplies with, whether or not they are stored twice."""
        return self.vocab_size * self.hidden_size

    @property
    def total_parameters(self) -> int:
        """Parameters stored: layers, norms, embeddings, and the LM head where it is not tied."""
        matrices = self.layers * self.layer_weight_elements
        head = 0 if self.tied_embeddings else self.head_elements
        return matrices + self.norm_elements + self.embedding_elements + head

    @property
    def active_parameters(self) -> int:
        """Parameters that one token uses, embeddings included; a dense model uses them all."""
        return self.total_parameters

    @property
    def kv_elements_per_token(self) -> int:
        """Entries of the KV cache for one token: K and V, all layers, not replicated over GPUs."""
        return 2 * self.layers * self.kv_heads * self.head_dim

    def kv_bytes_per_token(self, bytes_per_element: float) -> float:
        """Bytes of KV cache for one token, all layers, at a width in bytes per element."""
        return self.kv_elements_per_token * bytes_per_element
