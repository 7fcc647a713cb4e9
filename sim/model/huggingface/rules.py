"""What all quantisers say, in one form."""

from dataclasses import dataclass

from sim.model.huggingface.fields import Fields
from sim.model.weight_format import Format


@dataclass(frozen=True, slots=True)
class Rules:
    """Which matrices a quantiser touched, and how."""

    default: Format | None
    """Format of the matrices that no pattern names; None: they are left as they were."""
    chosen: tuple[tuple[tuple[str, ...], Format], ...] = ()
    """Patterns of modules with a format of their own; the first that fits counts."""
    skipped: tuple[str, ...] = ()
    """Patterns of modules that were left as they were, whatever the others say."""
    kv: Format | None = None
    group_elements: int | None = None
    zero_points: bool = False
    weight_only: bool = False
    takes_head: bool = False
    """The LM head is quantised too, unless it is skipped."""
    source: str = ""


def names(found: Fields, *keys: str) -> tuple[str, ...]:
    """Return a list of modules, under whichever key it stands."""
    given = found.items(*keys) or []
    return tuple(str(entry) for entry in given if entry)
