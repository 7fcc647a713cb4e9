"""Schema of the `architecture` of a model as users write it: kinds of layers, and how many."""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator

from sim.model.architecture import Layer
from sim.model.mixer_facts import Amount, Count, Facts, MixerFacts
from sim.model.mixers import Mixer
from sim.model.mlps import DenseMlp, Experts, Mlp


class DenseFacts(Facts):
    """A dense MLP."""

    kind: Literal["dense"]
    intermediate_size: Count
    gated: StrictBool = True
    bias: StrictBool = False

    def build(self, hidden_size: int) -> DenseMlp:
        """Return the counts."""
        up = (2 if self.gated else 1) * self.intermediate_size
        bias = up + hidden_size if self.bias else 0
        return DenseMlp(self.intermediate_size, self.gated, bias)


class ExpertsFacts(Facts):
    """A mixture of experts."""

    kind: Literal["moe"]
    experts: Count
    active: Count
    intermediate_size: Count
    gated: StrictBool = True
    shared_intermediate_size: Amount = 0
    shared_gate: StrictBool = False
    router_extra_elements: Amount = 0
    """Weights of the router beside its matrix (biases, scales)."""
    bias: StrictBool = False
    """Each expert has biases."""
    latent_size: Count | None = None

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if self.active > self.experts:
            raise ValueError(f"`active` {self.active} is more than `experts` {self.experts}")
        return self

    def build(self, hidden_size: int) -> Experts:
        """Return the counts."""
        up = (2 if self.gated else 1) * self.intermediate_size
        return Experts(
            experts=self.experts,
            active=self.active,
            intermediate_size=self.intermediate_size,
            gated=self.gated,
            shared_intermediate_size=self.shared_intermediate_size,
            shared_gate=self.shared_gate,
            router_elements=hidden_size * self.experts + self.router_extra_elements,
            bias_elements=up + hidden_size if self.bias else 0,
            latent_size=self.latent_size,
        )


MlpFacts = Annotated[DenseFacts | ExpertsFacts, Field(discriminator="kind")]


class GroupFacts(Facts):
    """So many equal layers."""

    count: Count
    mixer: str | None = None
    """Name of a mixer; None: the layer has none."""
    mlp: str | None = None
    norms: Amount | None = None
    """Norms of the hidden size in each layer; None: one per mixer and one per MLP."""


class ArchitectureFacts(Facts):
    """Named mixers and MLPs, and the layers that are made of them."""

    mixers: dict[str, MixerFacts]
    mlps: dict[str, MlpFacts]
    layers: Annotated[tuple[GroupFacts, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _named(self) -> Self:
        for group in self.layers:
            if group.mixer is not None and group.mixer not in self.mixers:
                raise ValueError(f"`mixer` {group.mixer!r} is not among {list(self.mixers)}")
            if group.mlp is not None and group.mlp not in self.mlps:
                raise ValueError(f"`mlp` {group.mlp!r} is not among {list(self.mlps)}")
        return self

    def build(self, hidden_size: int) -> tuple[Layer, ...]:
        """Return the layers."""
        return tuple(
            layer
            for group in self.layers
            for layer in (self._layer(group, hidden_size),) * group.count
        )

    def _layer(self, group: GroupFacts, hidden_size: int) -> Layer:
        mixer: Mixer | None = None
        mlp: Mlp | None = None
        if group.mixer is not None:
            mixer = self.mixers[group.mixer].build(hidden_size)
        if group.mlp is not None:
            mlp = self.mlps[group.mlp].build(hidden_size)
        blocks = (mixer is not None) + (mlp is not None)
        norms = blocks if group.norms is None else group.norms
        return Layer(mixer, mlp, norms * hidden_size)
