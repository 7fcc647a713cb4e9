"""`paretoken drift`: what speculation gains as acceptance drifts, and where it breaks even."""

from pathlib import Path

from app.cli.exits import ANSWER
from app.cli.options import seed_option
from app.cli.output import emit_json, waiting
from app.cli.page import Page
from sim.errors import InputError
from sim.planning.drift import drift
from sim.report.drift import drift_answer, drift_document, drift_table
from sim.scenario import load_scenario


def drift_scenario(
    reference: str,
    overrides: list[str],
    *,
    to: str | None,
    trace: Path | None,
    seed: int | None,
    as_json: bool,
) -> int:
    """Print speed-up against drift."""
    scenario = load_scenario(reference, overrides, options=seed_option(seed), trace=trace)
    with waiting(f"Letting the acceptance of {scenario.name} drift"):
        found = drift(scenario, to=None if to is None else _mix(to))
    if as_json:
        emit_json(drift_document(found))
        return ANSWER
    page = Page()
    page.line(drift_answer(found), style="bold")
    page.table(drift_table(found))
    page.points("What is assumed", [found.strategy.basis])
    page.show()
    return ANSWER


def _mix(text: str) -> dict[str, float]:
    try:
        pairs = (part.split("=") for part in text.split(","))
        mix = {name.strip(): float(share) for name, share in pairs}
    except ValueError:
        mix = {}
    if not mix or abs(sum(mix.values()) - 1.0) > 1e-6 or min(mix.values()) < 0.0:
        raise InputError(
            f"expected shares of domains that are 1 in sum, found `{text}`",
            where="--to",
            remedy="for example --to chat=0.2,code=0.8",
        )
    return mix
