"""The knobs of a drafter in the sidebar."""

from dataclasses import replace
from functools import cache
from typing import Any, Final

import streamlit as st

from app.dashboard import drafters, models, offers, state
from app.dashboard.choices import Choices
from app.dashboard.widgets import more, number, select
from sim.model import Model, list_models

_DRAFTER: Final = (
    "What proposes the tokens. Layers of its own are priced like any model on the same GPUs, and"
    " take memory; a share of a pass is a figure of yours; n-gram copies from the prompt."
)
_WORK: Final = "Work of one pass of the drafter, in percent of a pass of the served model."
_SAME_WORDS: Final = "Models of the catalog with the vocabulary of the served one."
_HOST: Final = "Time for which the GPU waits for the engine around each pass of the drafter."
_ZERO: Final = "0: that of the served model."
_MORE: Final = (
    *("draft_weights", "draft_kv", "draft_tensor_parallel", "draft_host_us", "draft_mlp"),
    "draft_vocab",
)


def draw(default: Choices, model: Model, *, published: bool) -> dict[str, Any]:
    """Draw the kind of drafter and its knobs; return their values."""
    kinds = (drafters.AS_PUBLISHED, *drafters.KINDS) if published else drafters.KINDS
    if default.drafter not in kinds:
        default = replace(default, drafter=kinds[0])
    drafter = select(
        *("drafter", "Drafter", kinds, default), about=_DRAFTER, on_change=state.restore_hidden
    )
    values: dict[str, Any] = {"drafter": drafter}
    if drafter == drafters.RELATIVE:
        values["drafter_percent"] = number(
            "drafter_percent", "Drafter work (%)", (1, 100), default, step=1, about=_WORK
        )
    elif drafter == drafters.MODEL:
        offered = same_vocabulary(model, default.draft_model)
        if default.draft_model not in offered:
            default = replace(default, draft_model=offered[0])
        values["draft_model"] = select(
            "draft_model", "Draft model", offered, default, about=_SAME_WORDS
        )
    elif drafter in drafters.LAYERED:
        values["draft_layers"] = number("draft_layers", "Layers", (1, 64), default, step=1)
    if drafter in drafters.OWN_LAYERS:
        values |= _more(drafter, default)
    return values


def same_vocabulary(model: Model, own: str = "") -> tuple[str, ...]:
    """Return the smaller models whose drafts the served model understands, smallest first."""
    sizes = _sizes()
    found = [
        name
        for name, (words, parameters) in sizes.items()
        if words == model.vocab_size and parameters < model.total_parameters
    ]
    found.sort(key=lambda name: sizes[name][1])
    return tuple(dict.fromkeys([*found, *([own] if own else [])])) or (drafters.NO_MODEL,)


@cache
def _sizes() -> dict[str, tuple[int, float]]:
    """Return vocabulary and parameters of the models that decode token by token."""
    catalog = {name: models.loaded(name) for name in list_models()}
    return {
        name: (model.vocab_size, model.total_parameters)
        for name, model in catalog.items()
        if "autoregressive" in model.decoding
    }


def _more(drafter: str, default: Choices) -> dict[str, Any]:
    """Draw formats and layout of a drafter with weights of its own."""
    fold = more("more_drafter", "Layout of the drafter", _MORE, default)
    if fold is None:
        return {}
    values: dict[str, Any] = {}
    with fold:
        formats = offers.draft_formats(default.draft_weights)
        values["draft_weights"] = select("draft_weights", "Its weights", formats, default)
        caches = offers.draft_formats(default.draft_kv)
        values["draft_kv"] = select("draft_kv", "Its KV cache", caches, default)
        first, second = st.columns(2)
        with first:
            values["draft_tensor_parallel"] = number(
                *("draft_tensor_parallel", "Its GPUs", (0, 64), default), step=1, about=_ZERO
            )
        with second:
            values["draft_host_us"] = number(
                *("draft_host_us", "Host (µs)", (0.0, 1e6), default),
                step=50.0, form="%g", about=_HOST,
            )  # fmt: skip
        if drafter in {drafters.EAGLE3, drafters.EAGLE1, drafters.BLOCK}:
            values["draft_mlp"] = number(
                "draft_mlp", "Width of its MLP", (0, 1_000_000), default, step=256, about=_ZERO
            )
        if drafter in {drafters.EAGLE3, drafters.EAGLE1}:
            values["draft_vocab"] = number(
                "draft_vocab", "Tokens it can draft", (0, 1_000_000), default, step=1000,
                about="0: all that the served model knows, with its LM head.",
            )  # fmt: skip
    return values
