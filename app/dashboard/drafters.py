"""Drafters as the knobs of the sidebar show them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sim.decoding import BlockDraft, EagleDraft, MtpDraft, RelativeDraft
from sim.errors import InputError

AS_PUBLISHED: Final = "as published"
"""What the table of acceptance says."""
RELATIVE: Final = "share of a pass"
MODEL: Final = "draft model"
EAGLE3: Final = "EAGLE-3"
EAGLE1: Final = "EAGLE-1"
MTP: Final = "MTP layers"
MEDUSA: Final = "Medusa heads"
BLOCK: Final = "block drafter"
NGRAM: Final = "n-gram"
KINDS: Final = (RELATIVE, MODEL, EAGLE3, EAGLE1, MTP, MEDUSA, BLOCK, NGRAM)
LAYERED: Final = (EAGLE3, EAGLE1, MTP, BLOCK)
"""Those whose layers are counted."""
OWN_LAYERS: Final = (MODEL, *LAYERED, MEDUSA)
"""Those with weights of their own."""
AS_SERVED: Final = "as served"
NO_MODEL: Final = "none of this vocabulary"


@dataclass(frozen=True)
class DrafterKnobs:
    """The knobs of all drafters; 0 and `AS_SERVED` leave a key out."""

    drafter: str = RELATIVE
    drafter_percent: int = 14
    """Work of one drafter pass over that of a pass of the served model."""
    draft_model: str = ""
    draft_layers: int = 1
    draft_mlp: int = 0
    """Width of the drafter's MLP."""
    draft_vocab: int = 0
    """Tokens that it can draft."""
    draft_weights: str = AS_SERVED
    draft_kv: str = AS_SERVED
    draft_tensor_parallel: int = 0
    draft_host_us: float = 0.0


def keys_of(knobs: DrafterKnobs) -> dict[str, Any] | None:
    """Return the keys of `draft`; None: as the table says."""
    if knobs.drafter == AS_PUBLISHED:
        return None
    if knobs.drafter == RELATIVE:
        return {"work_share": knobs.drafter_percent / 100}
    if knobs.drafter == MODEL and knobs.draft_model in {"", NO_MODEL}:
        raise InputError(
            "no smaller model of the catalog shares the vocabulary of the served one",
            where="Draft model",
            remedy="choose another drafter",
        )
    keys = {**_KEYS[knobs.drafter](knobs)}
    if knobs.drafter in OWN_LAYERS:
        keys |= {
            "weights": _chosen(knobs.draft_weights),
            "kv_precision": _chosen(knobs.draft_kv),
            "tensor_parallel": knobs.draft_tensor_parallel or None,
            "host_us_per_pass": knobs.draft_host_us,
        }
    return {name: value for name, value in keys.items() if value is not None}


def label_of(knobs: DrafterKnobs, plain: str) -> str:
    """Return what reports call the drafter; `plain` is one that is a share of a pass."""
    if knobs.drafter in {RELATIVE, AS_PUBLISHED}:
        return plain
    return f"draft model {knobs.draft_model}" if knobs.drafter == MODEL else knobs.drafter


def values_of(draft: Any) -> dict[str, Any]:  # noqa: ANN401  # a union with tags is no type
    """Return the knobs of a drafter; None is that of a table."""
    if draft is None:
        return {"drafter": AS_PUBLISHED}
    if isinstance(draft, RelativeDraft):
        return {"drafter": RELATIVE, "drafter_percent": round(100 * draft.work_share)}
    if isinstance(draft, EagleDraft):
        kind = EAGLE3 if draft.version == 3 else EAGLE1
    else:
        kind = {"model": MODEL, "mtp": MTP, "medusa": MEDUSA, "block": BLOCK, "ngram": NGRAM}[
            draft.kind
        ]
    values: dict[str, Any] = {"drafter": kind}
    if kind == MODEL:
        values["draft_model"] = draft.model
    if isinstance(draft, EagleDraft | MtpDraft | BlockDraft):
        values["draft_layers"] = draft.layers
        values["draft_mlp"] = getattr(draft, "intermediate_size", None) or 0
        values["draft_vocab"] = getattr(draft, "vocab_size", None) or 0
    if kind in OWN_LAYERS:
        values |= {
            "draft_weights": draft.weights or AS_SERVED,
            "draft_kv": draft.kv_precision or AS_SERVED,
            "draft_tensor_parallel": draft.tensor_parallel or 0,
            "draft_host_us": draft.host_us_per_pass,
        }
    return values


def _eagle(version: int) -> Callable[[DrafterKnobs], dict[str, Any]]:
    return lambda knobs: {
        "kind": "eagle",
        "version": version,
        "layers": knobs.draft_layers,
        "intermediate_size": knobs.draft_mlp or None,
        "vocab_size": knobs.draft_vocab or None,
    }


_KEYS: Final[Mapping[str, Callable[[DrafterKnobs], dict[str, Any]]]] = {
    MODEL: lambda knobs: {"kind": "model", "model": knobs.draft_model},
    EAGLE3: _eagle(3),
    EAGLE1: _eagle(1),
    MTP: lambda knobs: {"kind": "mtp", "layers": knobs.draft_layers},
    MEDUSA: lambda _: {"kind": "medusa"},
    BLOCK: lambda knobs: {
        "kind": "block",
        "layers": knobs.draft_layers,
        "intermediate_size": knobs.draft_mlp or None,
    },
    NGRAM: lambda _: {"kind": "ngram"},
}


def _chosen(precision: str) -> str | None:
    return None if precision == AS_SERVED else precision
