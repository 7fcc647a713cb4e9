"""Schema of mixers as users write them: attention with a cache, a latent, or a running state."""

from typing import Annotated, Literal, Self

from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator

from sim.model import recurrences
from sim.model.mixers import GroupedQuery, Latent, Recurrent

Count = Annotated[StrictInt, Ge(1)]
Amount = Annotated[StrictInt, Ge(0)]


class Facts(BaseModel):
    """Frozen, and no key that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class GroupedQueryFacts(Facts):
    """Softmax attention with K and V of each KV head in the cache."""

    kind: Literal["grouped_query"] = "grouped_query"
    heads: Count
    kv_heads: Count | None = None
    """None: as many as `heads`."""
    head_dim: Count
    value_dim: Count | None = None
    """None: as `head_dim`."""
    window_tokens: Count | None = None
    chunked: StrictBool = False
    """`window_tokens` is a fixed chunk (Llama 4), not a sliding window."""
    qk_norm: Literal["none", "head", "full"] = "none"
    """Norms of queries and keys: one head wide, or as wide as all heads."""
    qkv_bias: StrictBool = False
    output_bias: StrictBool = False
    output_gate: StrictBool = False
    sinks: StrictBool = False
    value_is_key: StrictBool = False

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.kv_heads and self.heads % self.kv_heads:
            raise ValueError(
                f"`heads` {self.heads} is not a multiple of `kv_heads` {self.kv_heads}"
            )
        return self

    def build(self, hidden_size: int) -> GroupedQuery:
        """Return the counts."""
        kv_heads = self.kv_heads or self.heads
        norms = {"none": 0, "head": 2, "full": self.heads + kv_heads}
        value_dim = self.value_dim or self.head_dim
        bias = (self.heads + kv_heads) * self.head_dim + kv_heads * value_dim
        return GroupedQuery(
            heads=self.heads,
            kv_heads=kv_heads,
            head_dim=self.head_dim,
            value_dim=value_dim,
            window_tokens=self.window_tokens,
            qk_norm_elements=norms[self.qk_norm] * self.head_dim,
            bias_elements=bias * self.qkv_bias + hidden_size * self.output_bias,
            output_gate=self.output_gate,
            sinks=self.sinks,
            value_is_key=self.value_is_key,
            chunked=self.chunked,
        )


class LatentFacts(Facts):
    """Multi-head latent attention."""

    kind: Literal["latent"]
    heads: Count
    query_rank: Count | None = None
    kv_rank: Count
    nope_dim: Count
    rope_dim: Count
    value_dim: Count
    top_k_tokens: Count | None = None
    indexer_heads: Amount = 0
    indexer_dim: Amount = 0

    def build(self, _hidden_size: int) -> Latent:
        """Return the counts."""
        return Latent(**self.model_dump(exclude={"kind"}))


class GatedDeltaFacts(Facts):
    """Gated DeltaNet (Qwen3-Next, Qwen3.5)."""

    kind: Literal["gated_delta"]
    key_heads: Count
    value_heads: Count
    key_dim: Count
    value_dim: Count
    conv_kernel: Count = 4

    def build(self, hidden_size: int) -> Recurrent:
        """Return the counts."""
        return recurrences.gated_delta(hidden_size, **self.model_dump(exclude={"kind"}))


class Mamba1Facts(Facts):
    """Mamba-1 (Jamba)."""

    kind: Literal["mamba1"]
    inner_size: Count
    state_size: Count
    dt_rank: Count
    conv_kernel: Count = 4
    inner_norms: StrictBool = False
    """dt, B and C are normed (Jamba)."""

    def build(self, hidden_size: int) -> Recurrent:
        """Return the counts."""
        return recurrences.mamba1(hidden_size, **self.model_dump(exclude={"kind"}))


class Mamba2Facts(Facts):
    """Mamba-2 (Nemotron-H)."""

    kind: Literal["mamba2"]
    heads: Count
    head_dim: Count
    groups: Count
    state_size: Count
    conv_kernel: Count = 4

    def build(self, hidden_size: int) -> Recurrent:
        """Return the counts."""
        return recurrences.mamba2(hidden_size, **self.model_dump(exclude={"kind"}))


class LightningFacts(Facts):
    """Lightning attention (MiniMax-01)."""

    kind: Literal["lightning"]
    heads: Count
    head_dim: Count

    def build(self, hidden_size: int) -> Recurrent:
        """Return the counts."""
        return recurrences.lightning(hidden_size, **self.model_dump(exclude={"kind"}))


MixerFacts = Annotated[
    GroupedQueryFacts | LatentFacts | GatedDeltaFacts | Mamba1Facts | Mamba2Facts | LightningFacts,
    Field(discriminator="kind"),
]
