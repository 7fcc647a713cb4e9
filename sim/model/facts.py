"""Schema of a model's facts as users write them: in the catalog, in their own file, or inline."""

from typing import Annotated, Literal, Self

from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt, model_validator

from sim.model.architecture import Layer, LayerGroup, Model
from sim.model.mixers import GroupedQuery
from sim.model.mlps import DenseMlp
from sim.model.weight_format import WeightFormat

Count = Annotated[StrictInt, Ge(1)]


class ModelFacts(BaseModel):
    """A dense decoder-only transformer; every key is a plain count read off its `config.json`.

    What other architectures need (experts, latent attention, windows) comes as further optional
    keys, so that the files written today stay valid.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    aliases: tuple[str, ...] = ()
    """Other names under which the model is found, such as its Hugging Face repositories."""
    source: str = "given by the user"
    """Where the facts were read: an address or a citation."""
    layers: Count
    hidden_size: Count
    heads: Count
    kv_heads: Count | None = None
    """None: as many as `heads`."""
    head_dim: Count | None = None
    """None: `hidden_size / heads`."""
    intermediate_size: Count
    vocab_size: Count
    tied_embeddings: StrictBool = False
    qk_norm: StrictBool = False
    max_context_tokens: Count
    causal: StrictBool = True
    weights: Literal["bf16", "fp8"] = "bf16"
    """Precision in which the checkpoint is published."""

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.head_dim is None and self.hidden_size % self.heads:
            problem = f"`hidden_size` {self.hidden_size} is not a multiple of `heads` {self.heads}"
            raise ValueError(f"{problem}; give `head_dim`")
        if self.kv_heads and self.heads % self.kv_heads:
            raise ValueError(
                f"`heads` {self.heads} is not a multiple of `kv_heads` {self.kv_heads}"
            )
        return self

    def to_model(self) -> Model:
        """Return the counted facts that the simulator works with."""
        kv_heads, width = (
            self.kv_heads or self.heads,
            self.head_dim or self.hidden_size // self.heads,
        )
        mixer = GroupedQuery(
            self.heads, kv_heads, width, width, qk_norm_elements=2 * width * self.qk_norm
        )
        layer = Layer(mixer, DenseMlp(self.intermediate_size), 2 * self.hidden_size)
        return Model(
            name=self.name,
            hidden_size=self.hidden_size,
            groups=(LayerGroup(layer, self.layers),),
            vocab_size=self.vocab_size,
            tied_embeddings=self.tied_embeddings,
            max_context_tokens=self.max_context_tokens,
            source=self.source,
            causal=self.causal,
            weights=WeightFormat(layers=self.weights),
            final_norm_elements=self.hidden_size,
        )
