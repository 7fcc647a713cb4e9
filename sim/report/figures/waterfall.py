"""Where the wait for the first token goes, stage by stage."""

from collections.abc import Sequence

from sim.metrics.result import Stage
from sim.report.figures.bars import Part, bars_figure, largest
from sim.report.figures.template import Figure
from sim.report.words import percent


def waterfall_figure(
    stages: Sequence[Stage],
    *,
    total_label: str = "Mean TTFT",
    strategy: str = "autoregressive",
    dark: bool = False,
) -> Figure:
    """Draw the stages of the mean time to first token (`Metrics.waterfall`) and their sum."""
    return bars_figure(
        _parts(stages),
        total_label=total_label,
        axis="time since the request was sent (ms)",
        strategy=strategy,
        dark=dark,
    )


def waterfall_finding(stages: Sequence[Stage]) -> str:
    """Return what the figure shows, in one line of at most 52 characters."""
    parts = _parts(stages)
    chief = largest(parts)
    if chief is None:
        return "No request waits for its first token"
    name = "Prefill" if chief.label.startswith("Prefill") else chief.label
    share = percent(chief.seconds / sum(part.seconds for part in parts), 0)
    if share == "100%":
        return f"{name} is all of the wait for the first token"
    return f"{name} takes {share} of the wait for the first token"


def _parts(stages: Sequence[Stage]) -> list[Part]:
    return [
        Part(stage.stage.capitalize().replace(" and ", ", "), stage.mean_s, stage.origin)
        for stage in stages
    ]
