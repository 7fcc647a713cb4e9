"""Schema of a model's facts as users write them: in the catalog, in their own file, or inline."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator

from sim.model.architecture import Layer, Model
from sim.model.architecture_facts import ArchitectureFacts
from sim.model.mixer_facts import Count, GroupedQueryFacts
from sim.model.mlps import DenseMlp
from sim.model.stack import grouped
from sim.model.weight_format import Format, WeightFormat
from sim.yaml_files import validate

Family = Literal["autoregressive", "diffusion", "block_diffusion"]


class WeightFacts(BaseModel):
    """Format of each part of the published checkpoint, see `WeightFormat`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    layers: Format
    attention: Format | None = None
    attention_output: Format | None = None
    recurrent: Format | None = None
    dense_mlp: Format | None = None
    shared_experts: Format | None = None
    experts: Format | None = None
    embeddings: Format = "bf16"
    head: Format = "bf16"
    kv: Format | None = None
    group_elements: Count | None = None
    zero_points: StrictBool = False
    weight_only: StrictBool = False


class ModelFacts(BaseModel):
    """What both ways of writing a model share."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    aliases: tuple[str, ...] = ()
    """Other names under which the model is found, such as its Hugging Face repositories."""
    source: str = "given by the user"
    """Where the facts were read: an address or a citation."""
    as_of: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}){0,2}$")] | None = None
    """Date of the source."""
    hidden_size: Count
    vocab_size: Count
    tied_embeddings: StrictBool = False
    max_context_tokens: Count
    causal: StrictBool = True
    decoding: tuple[Family, ...] | None = None
    """Strategies that it was trained for; None: autoregressive, or diffusion if not causal."""
    weights: Format | WeightFacts = "bf16"
    """Precision in which the checkpoint is published, as a whole or by part."""
    checkpoints: Mapping[str, Format | WeightFacts] = Field(default_factory=dict)
    """Other checkpoints of the same shape, by repository: each with the formats of its weights."""
    vision_parameters: Annotated[StrictInt, Ge(0)] = 0
    mtp_parameters: Annotated[StrictInt, Ge(0)] = 0
    other_parameters: Annotated[StrictInt, Ge(0)] = 0
    """Weights outside the layers beside embeddings, head and last norm."""
    residual_streams: Count = 1
    """Residual streams of a model with hyper-connections (`hc_mult` of a `config.json`)."""

    def build_layers(self) -> tuple[Layer, ...]:
        """Return the layers."""
        raise NotImplementedError

    def checkpoint_named(self, name: str) -> str | None:
        """Return the repository of `checkpoints` that is meant: whole or without its owner."""
        wanted = name.lower()
        for repository in self.checkpoints:
            if wanted in {repository.lower(), short_name(repository)}:
                return repository
        return None

    def to_model(self, checkpoint: str | None = None) -> Model:
        """Return the counted facts that the simulator works with; of a checkpoint, if named."""
        natural: Family = "autoregressive" if self.causal else "diffusion"
        return Model(
            name=self.name if checkpoint is None else short_name(checkpoint),
            hidden_size=self.hidden_size,
            vocab_size=self.vocab_size,
            tied_embeddings=self.tied_embeddings,
            groups=grouped(self.build_layers()),
            max_context_tokens=self.max_context_tokens,
            source=self.source if self.as_of is None else f"{self.source} ({self.as_of})",
            causal=self.causal,
            decoding=self.decoding or (natural,),
            weights=self._weights(checkpoint),
            vision_parameters=self.vision_parameters,
            mtp_parameters=self.mtp_parameters,
            final_norm_elements=self.hidden_size,
            other_elements=self.other_parameters,
            residual_streams=self.residual_streams,
        )

    def _weights(self, checkpoint: str | None) -> WeightFormat:
        source = f"facts of {checkpoint or self.name}"
        given = self.weights if checkpoint is None else self.checkpoints[checkpoint]
        if isinstance(given, WeightFacts):
            return WeightFormat(**given.model_dump(), source=source)
        return WeightFormat(layers=given, source=source)


class LayeredFacts(ModelFacts):
    """Any architecture: kinds of layers, and how many of each."""

    architecture: ArchitectureFacts

    def build_layers(self) -> tuple[Layer, ...]:
        """Return the layers."""
        return self.architecture.build(self.hidden_size)


class DenseModelFacts(ModelFacts):
    """A dense decoder-only transformer; every key is a plain count read off its `config.json`."""

    layers: Count
    heads: Count
    kv_heads: Count | None = None
    """None: as many as `heads`."""
    head_dim: Count | None = None
    """None: `hidden_size / heads`."""
    intermediate_size: Count
    qk_norm: StrictBool = False
    """Queries and keys pass through a norm of one head's width each (Qwen3)."""
    qkv_bias: StrictBool = False

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

    def build_layers(self) -> tuple[Layer, ...]:
        """Return the layers."""
        mixer = GroupedQueryFacts(
            heads=self.heads,
            kv_heads=self.kv_heads,
            head_dim=self.head_dim or self.hidden_size // self.heads,
            qk_norm="head" if self.qk_norm else "none",
            qkv_bias=self.qkv_bias,
        ).build(self.hidden_size)
        mlp = DenseMlp(self.intermediate_size)
        return (Layer(mixer, mlp, 2 * self.hidden_size),) * self.layers


def short_name(repository: str) -> str:
    """Return a repository without its owner, in small letters.

    >>> short_name("Qwen/Qwen3-32B-FP8")
    'qwen3-32b-fp8'
    """
    return repository.rpartition("/")[2].lower()


def read_facts(mapping: Mapping[str, object], where: str) -> ModelFacts:
    """Return facts of any architecture, or those of a dense model written flat."""
    kind = LayeredFacts if "architecture" in mapping else DenseModelFacts
    return validate(kind, mapping, where)
