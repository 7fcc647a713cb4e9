"""One published figure beside its prediction."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.markdown import markdown_table


@dataclass(frozen=True, slots=True)
class Check:
    """A figure, and how near the prediction should come."""

    what: str
    setting: str
    published: float
    simulated: float
    tolerance: float
    """Relative; in the unit of the figure where `absolute`."""
    absolute: bool = False

    @property
    def error(self) -> float:
        """(Simulated - published), relative to the published figure unless absolute."""
        difference = self.simulated - self.published
        return difference if self.absolute else difference / self.published

    @property
    def holds(self) -> bool:
        """The prediction is near enough."""
        return abs(self.error) <= self.tolerance


@dataclass(frozen=True, slots=True)
class Comparison:
    """All checks of one source."""

    title: str
    about: str
    """Source, how it was replayed, what had to be assumed."""
    checks: tuple[Check, ...]
    missing: str
    """What keeps the others away, as far as it is known."""


def section(found: Comparison) -> str:
    """Return a comparison as Markdown."""
    held = sum(check.holds for check in found.checks)
    head = ("what", "setting", "published", "simulated", "error", "asked")
    count = f"{held} of {len(found.checks)} are as near as asked."
    table = markdown_table(head, [_row(check) for check in found.checks])
    return f"### {found.title}\n\n{found.about}\n\n{count} {found.missing}\n\n{table}"


def _row(check: Check) -> tuple[str, ...]:
    if check.absolute:
        error, asked = f"{check.error:+.1%} points", f"{check.tolerance:.0%} points"
        published, simulated = f"{check.published:.1%}", f"{check.simulated:.1%}"
        error, asked = error.replace("% points", " points"), asked.replace("% points", " points")
    else:
        error, asked = f"{check.error:+.1%}", f"{check.tolerance:.0%}"
        published, simulated = f"{check.published:.2f}", f"{check.simulated:.2f}"
    error = error if check.holds else f"**{error}**"
    return (check.what, check.setting, published, simulated, error, asked)


def page(comparisons: Sequence[Comparison]) -> str:
    """Return all comparisons as one part of the accuracy page."""
    held = sum(check.holds for found in comparisons for check in found.checks)
    total = sum(len(found.checks) for found in comparisons)
    head = (
        "## Published measurements of decoding strategies\n\n"
        "Speeds and speed-ups, with acceptance and passes from published tables and never fitted"
        f" to them. {held} of {total} figures come out as near as asked, the others are in"
        " bold.\n"
    )
    return "\n".join([head, *(section(found) for found in comparisons)])
