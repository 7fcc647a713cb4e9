"""The knobs of diffusion in the sidebar: blocks, passes, caches, and what is streamed."""

from dataclasses import replace
from typing import Any, Final

import streamlit as st

from app.dashboard import denoising as den
from app.dashboard import offers, state
from app.dashboard.choices import Choices
from app.dashboard.markdown import escape
from app.dashboard.widgets import more, number, select, slider, text, toggle, warn_of_others
from sim.model import Model

_SCHEDULE: Final = (
    "How many passes a block takes: a number, in tokens per pass, a row of a published table (its"
    " source is shown), or as measured. What fewer passes do to answers is not modelled."
)
_CANVAS: Final = "Denoised whatever the answer needs of it; 0: as long as the answer."
_CACHE: Final = (
    "Keys and values kept from pass to pass: none, those before the block (prefix), or those on"
    " both sides of it (dual); computed anew once a block."
)
_FLIGHT: Final = "Blocks that are denoised at once, one behind the other (D2F, arXiv:2508.09192)."
_FED_BACK: Final = "The last guess goes into the next pass (DiffusionGemma): another product."
_LOCKSTEP: Final = "A sequence whose block is done waits for the slowest of its batch."
_STOP: Final = "Stop after the block that holds the end; else the padding is denoised too."
_REFRESH: Final = "Passes after which the cache is computed anew; 0: once a block."
_LOGITS: Final = "As published code does, instead of those of the block alone."
_IDEALISED: Final = "Idealised: a long answer takes as many passes as a short one."
_OF_BLOCKS: Final = ("lockstep", "self_conditioning")
_OF_CANVASES: Final = ("lockstep", "early_stop", "refresh_every", "all_logits", "stream_at_end")


def draw_block_diffusion(default: Choices, model: Model) -> dict[str, Any]:
    """Draw the knobs of blocks that are committed to an exact cache; return their values."""
    values = {"block_tokens": _block(default), **_schedule(default, model)}
    values["blocks_in_flight"] = slider(
        "blocks_in_flight", "Blocks in flight", 1, 8, default, about=_FLIGHT
    )
    fold = more("more_blocks", "Batching, feedback", _OF_BLOCKS, default)
    if fold is not None:
        with fold:
            values["lockstep"] = toggle("lockstep", "Lockstep", default, about=_LOCKSTEP)
            values["self_conditioning"] = toggle(
                "self_conditioning", "Guess fed back", default, about=_FED_BACK
            )
    return values


def draw_diffusion(default: Choices, model: Model) -> dict[str, Any]:
    """Draw the knobs of a canvas that is denoised in both directions; return their values."""
    values: dict[str, Any] = {}
    caches = offers.caches(default.cache)
    first, second = st.columns(2)
    with first:
        values["cache"] = select("cache", "Cache", caches, default, about=_CACHE)
    with second:
        values["canvas_tokens"] = number(
            *("canvas_tokens", "Canvas (tokens)", (0, 65_536), default), step=32, about=_CANVAS
        )
    whole = toggle("one_block", "The canvas is one block", default, on_change=state.restore_hidden)
    values["one_block"] = whole
    if not whole:
        values["block_tokens"] = _block(default)
    values |= _schedule(default, model)
    if whole and not values["canvas_tokens"] and values["schedule"] in {den.PASSES, den.MEASURED}:
        st.caption(_IDEALISED)
    return values | _more(default)


def _more(default: Choices) -> dict[str, Any]:
    fold = more("more_canvas", "Padding, refresh, streaming", _OF_CANVASES, default)
    if fold is None:
        return {}
    with fold:
        return {
            "early_stop": toggle("early_stop", "Stop at the end", default, about=_STOP),
            "stream_at_end": toggle("stream_at_end", "Shown only when complete", default),
            "lockstep": toggle("lockstep", "Lockstep", default, about=_LOCKSTEP),
            "all_logits": toggle("all_logits", "Logits of all tokens", default, about=_LOGITS),
            "refresh_every": number(
                *("refresh_every", "Refresh every (passes)", (0, 8192), default),
                step=1, about=_REFRESH,
            ),
        }  # fmt: skip


def _block(default: Choices) -> int:
    return slider("block_tokens", "Tokens per block", 4, 256, default, step=4)


def _schedule(default: Choices, model: Model) -> dict[str, Any]:
    """Draw how many passes a block takes."""
    schedule = select(
        *("schedule", "Denoising", den.SCHEDULES, default),
        about=_SCHEDULE,
        on_change=state.restore_hidden,
    )
    values: dict[str, Any] = {"schedule": schedule}
    if schedule == den.PASSES:
        values["denoise_passes"] = slider(
            "denoise_passes", "Denoise passes per block", 1, 64, default
        )
    elif schedule == den.SPEED:
        values["tokens_per_pass"] = number(
            *("tokens_per_pass", "Tokens per pass", (0.1, 1024.0), default), step=0.5, form="%g"
        )
    elif schedule == den.MEASURED:
        values["measured_passes"] = text(
            "measured_passes", "Passes of blocks", default, example="8, 9, 12"
        )
    else:
        values["denoise_row"] = _row(default, model)
    return values


def _row(default: Choices, model: Model) -> str:
    """Draw the published figures, those of the served model first, and the source of one."""
    options = den.rows_of(model.name)
    if default.denoise_row not in options:
        default = replace(default, denoise_row=options[0])
    chosen = select("denoise_row", "Published figure", options, default)
    table, row = den.rows()[chosen]
    said = f"{row.tokens_per_pass:g} tokens per pass: {row.source} ({row.as_of})."
    st.caption(escape(f"{said} {row.note}." if row.note else said))
    warn_of_others([den.model_of(table)], model.name)
    return chosen
