"""One set of colours for figures and dashboard."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from sim.report.figures.palette import DARK, FAMILIES, LIGHT, Palette, style, translucent

CONFIG = Path(__file__).parents[3] / "app" / "dashboard" / ".streamlit" / "config.toml"
# Token of the figures: key of the theme.
SHARED = {
    "background": "backgroundColor",
    "panel": "secondaryBackgroundColor",
    "ink": "textColor",
    "muted": "grayColor",
    "border": "borderColor",
    "accent": "primaryColor",
    "good": "greenColor",
    "bad": "redColor",
}


def theme(name: str) -> dict[str, Any]:
    section: dict[str, Any] = tomllib.loads(CONFIG.read_text("utf-8"))["theme"][name]
    return section


@pytest.mark.parametrize(("name", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_figures_have_the_colours_of_the_dashboard(name: str, palette: Palette) -> None:
    expected = {token: theme(name)[key] for token, key in SHARED.items()}
    assert {token: getattr(palette, token) for token in SHARED} == expected


@pytest.mark.parametrize("dark", [False, True])
def test_strategies_have_the_categorical_colours_of_the_dashboard(dark: bool) -> None:
    ordered = [look.color(dark=dark) for look in FAMILIES.values()]
    assert ordered == theme("dark" if dark else "light")["chartCategoricalColors"]


def luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dim + 0.05)


@pytest.mark.parametrize(("palette", "dark"), [(LIGHT, False), (DARK, True)])
def test_text_and_lines_stand_out_from_the_background(palette: Palette, dark: bool) -> None:
    # WCAG 2.2: 4.5 for text, 3 for graphics.
    assert contrast(palette.ink, palette.background) >= 4.5
    assert contrast(palette.muted, palette.background) >= 4.5
    for look in FAMILIES.values():
        assert contrast(look.color(dark=dark), palette.background) >= 3


def test_every_family_has_a_colour_and_a_marker_of_its_own() -> None:
    for dark in (False, True):
        assert len({look.color(dark=dark) for look in FAMILIES.values()}) == len(FAMILIES)
    assert len({look.symbol for look in FAMILIES.values()}) == len(FAMILIES)


@pytest.mark.parametrize(
    ("strategy", "family"),
    [
        ("autoregressive", "autoregressive"),
        ("speculative", "eagle"),
        ("speculative:eagle3", "eagle"),
        ("speculative:DFlash", "dflash"),
        ("speculative:prompt lookup", "prompt_lookup"),
        ("speculative:draft model of 1B", "draft_model"),
        ("block_diffusion", "block_diffusion"),
        ("block_diffusion:32 in 8", "block_diffusion"),
    ],
)
def test_a_strategy_is_drawn_as_its_family(strategy: str, family: str) -> None:
    assert style(strategy) == FAMILIES[family]


def test_a_translucent_colour_keeps_its_hue() -> None:
    assert translucent("#0072B2", 0.5) == "rgba(0,114,178,0.5)"
