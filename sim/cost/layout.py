"""Which share of a model each GPU of a replica holds and computes."""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from sim.deployment import Deployment
from sim.model import GroupedQuery, Model


def unshared_heads(model: Model, ranks: int) -> tuple[int, int] | None:
    """Return query and KV heads that ranks cannot share without rest; None: they share all."""
    for mixer, _ in model.attention_groups():
        kv_heads = mixer.kv_heads if isinstance(mixer, GroupedQuery) else 1
        if mixer.heads % ranks or (kv_heads % ranks and ranks % kv_heads):
            return mixer.heads, kv_heads
    return None


@dataclass(frozen=True, slots=True)
class Layout:
    """A replica of `tensor * attention_data * pipeline` GPUs.

    Attention is split over `tensor` ranks by heads, its sequences over `attention_data` groups.
    Experts are spread over `expert` of the GPUs of a stage, each expert split over the rest.
    """

    tensor: int
    pipeline: int
    expert: int
    attention_data: int

    @classmethod
    def of(cls, deployment: Deployment) -> "Layout":
        """Return the layout that a deployment asks for."""
        return cls(
            tensor=deployment.tensor_parallel,
            pipeline=deployment.pipeline_parallel,
            expert=deployment.expert_parallel,
            attention_data=deployment.attention_data_parallel,
        )

    @property
    def stage_gpus(self) -> int:
        """GPUs of one pipeline stage."""
        return self.tensor * self.attention_data

    @property
    def expert_tensor(self) -> int:
        """GPUs that share one expert."""
        return max(1, self.stage_gpus // self.expert)

    @property
    def lanes(self) -> int:
        """Parts into which a batch is split: attention-data groups times pipeline microbatches."""
        return self.attention_data * self.pipeline

    def exchanges(self, *, experts: bool) -> dict[str, int]:
        """Return the collectives of a pass, as fits name them, and the GPUs that take part."""
        found: dict[str, int] = {}
        if self.tensor > 1:
            found["all_reduce"] = self.tensor
        if self.attention_data > 1 and experts:
            found["all_to_all" if self.expert > 1 else "all_gather"] = self.stage_gpus
        if self.pipeline > 1:
            found["point_to_point"] = self.stage_gpus * self.pipeline
        return found

    def heads(self, heads: int) -> int:
        """Query heads on one rank."""
        return ceil(heads / self.tensor)

    def kv_heads(self, kv_heads: int) -> int:
        """KV heads on one rank: at least one, replicated where ranks outnumber them."""
        return max(1, ceil(kv_heads / self.tensor))


class Lane(NamedTuple):
    """The fullest of the lanes into which a batch is split."""

    tokens: int
    sequences: int
    logits: float
    decode: float
    """Its share of the decoding sequences' attention."""
    prefill: float
    decoding: int
    """Sequences that decode in it."""
    stage_tokens: int
    """Tokens of all groups of its pipeline stage: what the experts see."""


def fullest_lane(
    lanes: int, stages: int, sequences: tuple[int, int], tokens: tuple[int, int], logits: float
) -> Lane:
    """Return what the fullest lane holds of a pass with (decoding, prefilling) sequences.

    They are spread over attention-data groups and pipeline microbatches; one sequence is never
    split, so a lane holds at least one of those there are. Experts see the tokens of all groups of
    their stage.
    """
    decoding, prompts = sequences

    def fullest(parts: int, counts: tuple[int, int]) -> int:
        share = -(-counts[0] // max(1, min(parts, decoding)))
        return share - (-counts[1] // max(1, min(parts, prompts)))

    return Lane(
        tokens=fullest(lanes, tokens),
        sequences=fullest(lanes, sequences),
        logits=logits / max(1, min(lanes, decoding + prompts)),
        decode=1.0 / max(1, min(lanes, decoding)),
        prefill=1.0 / max(1, min(lanes, prompts)),
        decoding=-(-decoding // lanes),
        stage_tokens=fullest(stages, tokens),
    )
