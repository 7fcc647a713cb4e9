"""The knobs of a decoding strategy in the sidebar of Explore."""

from typing import Any, Final

import streamlit as st

from app.dashboard import offers, strategies
from app.dashboard.choices import Choices
from app.dashboard.widgets import number, select, slider

_PERCENT: Final = (1, 100)
_ACCEPTED: Final = "Share of first drafted tokens that the served model accepts. Measure yours."
_FALL: Final = "Every further position of the chain is accepted less often, by so many points."
_DRAFTER: Final = "Work of one pass of the drafter, in percent of a pass of the served model."
_CANVAS: Final = "Denoised whatever the answer needs of it; 0: as long as the answer."
_CACHE: Final = (
    "Keys and values kept from pass to pass: none, those before the block (prefix), or those on"
    " both sides of it (dual); computed anew once a block."
)


def knobs_of_strategy(strategy: str, default: Choices) -> dict[str, Any]:
    """Draw the knobs of a strategy and return their values."""
    if strategy == strategies.SPECULATIVE:
        return _speculative(default)
    if strategy == strategies.BLOCK_DIFFUSION:
        return _block_diffusion(default)
    return _diffusion(default) if strategy == strategies.DIFFUSION else {}


def _speculative(default: Choices) -> dict[str, Any]:
    tokens = slider("draft_tokens", "Draft tokens per pass", 1, 8, default)
    first, second = st.columns(2)
    with first:
        accepted = number(
            *("accepted_percent", "Accepted (%)", _PERCENT, default), step=1, about=_ACCEPTED
        )
    with second:
        fall = number("fall_points", "Fall (points)", (0, 50), default, step=1, about=_FALL)
    work = number(
        *("drafter_percent", "Drafter work (%)", _PERCENT, default), step=1, about=_DRAFTER
    )
    knobs = strategies.Knobs(draft_tokens=tokens, accepted_percent=accepted, fall_points=fall)
    st.caption(f"Acceptance by position: {' · '.join(map(str, knobs.acceptance_percent))}%")
    return {
        "draft_tokens": tokens,
        "accepted_percent": accepted,
        "fall_points": fall,
        "drafter_percent": work,
    }


def _block_diffusion(default: Choices) -> dict[str, Any]:
    values = _blocks(default)
    flying = slider("blocks_in_flight", "Blocks in flight", 1, 8, default)
    return {**values, "blocks_in_flight": flying}


def _diffusion(default: Choices) -> dict[str, Any]:
    caches = offers.caches(default.cache)
    cache = select("cache", "Cache", caches, default, about=_CACHE)
    canvas = number(
        *("canvas_tokens", "Canvas (tokens)", (0, 65_536), default), step=32, about=_CANVAS
    )
    return {"cache": cache, **_blocks(default), "canvas_tokens": canvas}


def _blocks(default: Choices) -> dict[str, Any]:
    return {
        "block_tokens": slider("block_tokens", "Tokens per block", 4, 256, default, step=4),
        "denoise_passes": slider("denoise_passes", "Denoise passes per block", 1, 64, default),
    }
