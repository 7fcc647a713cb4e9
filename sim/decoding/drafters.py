"""Drafters: what proposes the tokens that the served model then verifies, and what it computes.

A drafter is described by its passes, as work: positions, logits, layers. Which model that is, and
how long it takes, is for other layers to say (`sim.scenario.drafting`).
"""

from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Discriminator, Tag

from sim.decoding.plan import DraftPass, DraftWork

Count = Annotated[int, Ge(1)]
Precision = Literal["bf16", "fp8", "int8", "int4", "mxfp4", "nvfp4"]


class _Draft(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    def work(self, tokens: int, width: int) -> DraftWork | None:
        """Return the passes of a round that drafts `tokens` in a row, `width` branches wide."""
        raise NotImplementedError


class RelativeDraft(_Draft):
    """A drafter whose pass costs a share of the served model's pass at the same batch."""

    kind: Literal["relative"] = "relative"
    work_share: Annotated[float, Gt(0), Le(1)]
    """FLOP and bytes of a drafter pass (one drafted token) over those of a pass of the
    served model.
    """

    def work(self, tokens: int, width: int) -> DraftWork:
        """One pass a token."""
        return DraftWork((DraftPass(tokens, width, width),), share=self.work_share)


class _OwnDraft(_Draft):
    """A drafter with layers of its own, priced like any other model on the same GPUs."""

    weights: Precision | None = None
    """Format of its weights; None: as the served model's."""
    kv_precision: Precision | None = None
    """Format of its KV cache; None: as the served model's."""
    tensor_parallel: Annotated[int, Ge(1), Le(64)] | None = None
    """GPUs that share its layers; None: as many as share the served model's."""
    host_us_per_pass: Annotated[float, Ge(0), Le(1_000_000)] = 0.0
    """Time for which the GPU waits for the engine around each of its passes, us."""

    def work(self, tokens: int, width: int) -> DraftWork:
        """One pass a token; the first takes in the tokens of the last round as well.

        Engines run that pass over all positions that were verified, accepted or not.
        """
        first = DraftPass(1, tokens + 1, 1)
        rest = (DraftPass(tokens - 1, width, width),) if tokens > 1 else ()
        return DraftWork((first, *rest))


class ModelDraft(_OwnDraft):
    """A smaller model of the same vocabulary (Leviathan et al. 2023, arXiv:2211.17192)."""

    kind: Literal["model"]
    model: str
    """Catalog name, alias, or path of a `config.json`."""


class EagleDraft(_OwnDraft):
    """A layer on the served model's hidden states (EAGLE, arXiv:2401.15077; 3: arXiv:2503.01840).

    It has its own fusion of hidden states and one decoder layer; embeddings are the served
    model's, and so is the LM head unless `vocab_size` says otherwise.
    """

    kind: Literal["eagle"]
    version: Literal[1, 3] = 3
    """1: fuses a token and a hidden state. 3: hidden states of three layers, a layer twice as
    wide at its entry."""
    layers: Count = 1
    intermediate_size: Count | None = None
    """Width of its MLP; None: that of the served model, if it is dense."""
    vocab_size: Count | None = None
    """Tokens that it can draft, where it has a smaller LM head of its own."""


class MtpDraft(_OwnDraft):
    """The multi-token-prediction layer of a checkpoint, applied once a token (DeepSeek-V3).

    A layer of the served model's own kind behind a projection of token and hidden state;
    embeddings and LM head are shared.
    """

    kind: Literal["mtp"]
    layers: Count = 1


class MedusaDraft(_OwnDraft):
    """Heads that each guess one position ahead, all in one go (Medusa, arXiv:2401.10774).

    Each is a residual block of the hidden size and an LM head of its own; there is no KV.
    """

    kind: Literal["medusa"]

    def work(self, tokens: int, width: int) -> DraftWork:  # noqa: ARG002
        """One pass over the last position of each sequence."""
        return DraftWork((DraftPass(1, 1, 1),), prefills=False)


class BlockDraft(_OwnDraft):
    """A few layers that draft a whole block in one pass (DFlash, arXiv:2602.06036; DSpark).

    Its layers are of the served model's kind, behind a projection of hidden states; embeddings
    and LM head are shared.
    """

    kind: Literal["block"]
    layers: Count
    intermediate_size: Count | None = None
    """Width of its MLP where it is dense; None: that of the served model's layers."""

    def work(self, tokens: int, width: int) -> DraftWork:  # noqa: ARG002
        """One pass: the block, and the tokens of the last round."""
        return DraftWork((DraftPass(1, 2 * tokens + 1, tokens),))


class NgramDraft(_Draft):
    """Drafts copied from the prompt or the answer so far: no GPU work and no memory.

    N-gram, prompt lookup, suffix trees.
    """

    kind: Literal["ngram"]

    def work(self, tokens: int, width: int) -> DraftWork | None:  # noqa: ARG002
        """None."""
        return None


class Tree(BaseModel):
    """A tree of drafts instead of a chain: acceptance at depth j is that some child is right."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    nodes: Annotated[int, Ge(2), Le(1024)]
    """Query positions of a verification, the last accepted token included."""
    width: Annotated[int, Ge(1), Le(256)] = 1
    """Branches that each drafter pass after the first extends."""


def _kind(value: Any) -> str:  # noqa: ANN401  # anything that a user may write
    given = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return "relative" if given is None else str(given)


AnyDraft = Annotated[
    Annotated[RelativeDraft, Tag("relative")]
    | Annotated[ModelDraft, Tag("model")]
    | Annotated[EagleDraft, Tag("eagle")]
    | Annotated[MtpDraft, Tag("mtp")]
    | Annotated[MedusaDraft, Tag("medusa")]
    | Annotated[BlockDraft, Tag("block")]
    | Annotated[NgramDraft, Tag("ngram")],
    Discriminator(_kind),
]
OwnDraft = ModelDraft | EagleDraft | MtpDraft | MedusaDraft | BlockDraft
"""Drafters that have a model of their own."""
