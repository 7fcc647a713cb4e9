"""An answer that was pinned, and how the one in sight differs from it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final

import streamlit as st

from app.dashboard import tables
from app.dashboard.choices import Choices
from app.dashboard.markdown import escape
from app.dashboard.tiles import Tile
from sim.report.words import MINUS, NOTHING

_PINNED: Final = "explore_pinned"
_MOST: Final = 6
"""Differences of the choices that are told."""
_SAME: Final = "no change"


@dataclass(frozen=True, slots=True)
class Pin:
    """What was pinned."""

    tiles: tuple[Tile, ...]
    choices: Choices


def pin(shown: tuple[Tile, ...], choices: Choices) -> None:
    """Keep the answer in sight (a callback)."""
    st.session_state[_PINNED] = Pin(shown, choices)


def unpin() -> None:
    """Forget the answer (a callback)."""
    st.session_state.pop(_PINNED, None)


def pinned() -> Pin | None:
    """Return the pinned answer of this session."""
    found: Pin | None = st.session_state.get(_PINNED)
    return found


def with_changes(shown: tuple[Tile, ...], then: Pin | None) -> tuple[Tile, ...]:
    """Return the tiles with their change from the pinned answer, in short."""
    if then is None:
        return shown
    return tuple(
        replace(tile, origin=" · ".join(filter(None, [tile.origin, change(tile, old)])))
        for tile, old in zip(shown, then.tiles, strict=True)
    )


def change(now: Tile, then: Tile) -> str:
    """Return by how much a number has changed; empty where it cannot be said.

    Shares change in points, all else in percent.
    """
    if now.number is None or then.number is None:
        return ""
    if now.is_share:
        return _signed(100 * (now.number - then.number), " points")
    return _signed(100 * (now.number / then.number - 1), "%") if then.number else ""


def table(shown: tuple[Tile, ...], then: Pin) -> list[Mapping[str, str]]:
    """Return the answer beside the pinned one, row by row."""
    return [
        {
            "": tile.name,
            "now": tile.value or NOTHING,
            "pinned": old.value or NOTHING,
            "change": _judged(tile, old),
        }
        for tile, old in zip(shown, then.tiles, strict=True)
    ]


def draw(shown: tuple[Tile, ...], choices: Choices) -> None:
    """Draw the pinned answer beside that in sight, and what was chosen otherwise."""
    then = pinned()
    if then is None:
        return
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"##### {escape(_title(choices, then.choices))}")
            st.space("stretch")
            st.button("Unpin", icon=":material/keep_off:", type="tertiary", on_click=unpin)
        tables.draw_records(table(shown, then))


def differences(now: Choices, then: Choices) -> list[str]:
    """Return what was chosen otherwise: `gpu h100_sxm, now h200_sxm`."""
    old = asdict(then)
    return [
        f"{name.replace('_', ' ')} {_value(old[name])}, now {_value(value)}"
        for name, value in asdict(now).items()
        if value != old[name]
    ]


def _title(now: Choices, then: Choices) -> str:
    told = differences(now, then)
    if not told:
        return "Pinned: this very answer; move something to compare"
    more = f"; and {len(told) - _MOST} more" if len(told) > _MOST else ""
    return f"Pinned with {'; '.join(told[:_MOST])}{more}"


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _judged(now: Tile, then: Tile) -> str:
    """Return the change, and whether it is for the better."""
    said = change(now, then)
    if not said or said == _SAME or now.number is None or then.number is None:
        return said or NOTHING
    better = (now.number > then.number) == now.more_is_better
    return f"{said}, {'better' if better else 'worse'}"


def _signed(amount: float, unit: str) -> str:
    if abs(amount) < 0.05:
        return _SAME
    digits = 0 if abs(amount) >= 10 else 1
    sign = "+" if amount > 0 else MINUS
    return f"{sign}{abs(amount):.{digits}f}{unit}"
