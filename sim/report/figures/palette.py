"""Colours and markers. Colour means strategy; all else is ink, grey and navy.

The same colours stand in `app/dashboard/.streamlit/config.toml`; a test keeps the two alike.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Palette:
    """What is drawn in which colour, on one background."""

    background: str
    panel: str
    ink: str
    muted: str
    border: str
    accent: str
    good: str
    bad: str
    fill: str
    """Parts of a whole that are not the largest."""
    grid: str
    axis: str


LIGHT: Final = Palette(
    background="#FFFFFF",
    panel="#F4F6F9",
    ink="#1B2330",
    muted="#5B6472",
    border="#DDE2EA",
    accent="#2F3E63",
    good="#00795A",
    bad="#B42318",
    fill="#CBD3E1",
    grid="#E9EDF2",
    axis="#C3CAD5",
)
DARK: Final = Palette(
    background="#10151D",
    panel="#1A222E",
    ink="#E7EBF2",
    muted="#A0A9B8",
    border="#2D3746",
    accent="#A9B8E6",
    good="#35C79B",
    bad="#FF8A7A",
    fill="#3A475C",
    grid="#232C39",
    axis="#465163",
)


@dataclass(frozen=True, slots=True)
class Style:
    """How one family of strategies is drawn."""

    light: str
    dark: str
    symbol: str
    dash: str = "solid"

    def color(self, *, dark: bool) -> str:
        """Return its colour on a light or dark background."""
        return self.dark if dark else self.light


FAMILIES: Final[dict[str, Style]] = {
    "autoregressive": Style("#767E8B", "#C9D0DA", "circle"),
    "eagle": Style("#0072B2", "#3F9BF0", "square"),
    "dflash": Style("#C44E00", "#F07B3A", "diamond"),
    "block_diffusion": Style("#00553F", "#62E3AE", "triangle-up"),
    "prompt_lookup": Style("#86116B", "#BF6FBE", "x"),
    "draft_model": Style("#A8920A", "#F2CE3D", "cross"),
}
"""In the order of the theme's categorical colours."""

_WORDS: Final = {
    "eagle": "eagle",
    "dflash": "dflash",
    "lookup": "prompt_lookup",
    "ngram": "prompt_lookup",
    "draft model": "draft_model",
    "autoregressive": "autoregressive",
    "diffusion": "block_diffusion",
    "speculative": "eagle",
}


def palette(*, dark: bool) -> Palette:
    """Return the colours for a light or a dark background."""
    return DARK if dark else LIGHT


def style(strategy: str) -> Style:
    """Return how a strategy is drawn, by its id or label.

    >>> style("speculative:chain of 3").symbol
    'square'
    """
    lowered = strategy.lower()
    family = next((family for word, family in _WORDS.items() if word in lowered), "eagle")
    return FAMILIES[family]


def translucent(color: str, opacity: float) -> str:
    """Return `#RRGGBB` as a CSS colour that lets through what lies behind."""
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
