"""Where the time of one pass goes: weights, KV, communication, overhead, drafter."""

from collections.abc import Sequence

from sim.cost.operation import Operation
from sim.report.figures.bars import Part, bars_figure, largest
from sim.report.figures.template import Figure
from sim.report.words import percent

_GEMMS = "Weights, GEMMs"
LONGEST_FINDING = 52
"""Characters that stay on one line above a figure of 480 px."""


def pass_waterfall_figure(
    operations: Sequence[Operation],
    *,
    draft_s: float = 0.0,
    strategy: str = "autoregressive",
    dark: bool = False,
) -> Figure:
    """Draw one pass (`ForwardPass.operations`) by kind of work, and its sum.

    `draft_s` [s] is the drafter's part of a round, where there is one.
    """
    return bars_figure(
        _parts(operations, draft_s),
        total_label="One round" if draft_s else "One pass",
        axis="time inside one pass (ms)",
        strategy=strategy,
        dark=dark,
    )


def pass_finding(
    operations: Sequence[Operation], *, draft_s: float = 0.0, tokens_per_pass: float | None = None
) -> str:
    """Return what the figure shows, in one line of at most 52 characters.

    `tokens_per_pass`: output tokens that a pass yields per sequence, if that is to be said.
    """
    parts = _parts(operations, draft_s)
    chief = largest(parts)
    if chief is None:
        return "A pass takes no time"
    share = percent(chief.seconds / sum(part.seconds for part in parts), 0)
    verb = "take" if chief.label == _GEMMS else "takes"
    whole = "round" if draft_s else "pass"
    finding = f"{chief.label.removeprefix('Weights, ')} {verb} {share} of a {whole}"
    if tokens_per_pass is None or tokens_per_pass == 1:
        return finding
    whole_finding = f"{finding}; it yields {tokens_per_pass:.1f} tokens"
    return whole_finding if len(whole_finding) <= LONGEST_FINDING else finding


def _parts(operations: Sequence[Operation], draft_s: float) -> list[Part]:
    """Add up the operations of a kind, in order of their first appearance."""
    seconds: dict[str, float] = {}
    bounds: dict[str, dict[str, float]] = {}
    for operation in operations:
        label = _label(operation)
        seconds[label] = seconds.get(label, 0.0) + operation.total_s
        by_bound = bounds.setdefault(label, {})
        by_bound[operation.bound] = by_bound.get(operation.bound, 0.0) + operation.total_s
    parts = [
        Part(label, total_s, f"bound by {max(bounds[label], key=bounds[label].__getitem__)}")
        for label, total_s in seconds.items()
    ]
    return [*parts, Part("Drafter", draft_s, "extra passes of the drafter")] if draft_s else parts


def _label(operation: Operation) -> str:
    if operation.kind == "host":
        return "Host"
    if operation.kind == "collective" or "attention" in operation.name or not operation.flop:
        return operation.name.capitalize()
    return _GEMMS
