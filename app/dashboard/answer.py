"""The answer in words: one sentence with the number that matters, then one plain line."""

from typing import Final

from app.dashboard.offers import gpu_label
from sim.metrics.intervals import Interval
from sim.report.answer import bound_label
from sim.report.words import NOTHING, count, number, percent, span, usd
from sim.run import Outcome
from sim.scenario import Scenario
from sim.workload import ClosedLoop

_TARGETS: Final = {1: "the target", 2: "both targets"}


def headline(outcome: Outcome) -> str:
    """Return the answer in one sentence."""
    asked = load_label(outcome.scenario)
    gpus = gpus_label(outcome.scenario)
    if outcome.metrics.status == "overloaded":
        return f"Overloaded: {gpus} cannot sustain {asked}"
    verb = "serves" if outcome.scenario.deployment.gpus == 1 else "serve"
    cost = "" if outcome.cost is None else f" for {usd(outcome.cost.usd_per_month)} a month"
    attained = _attained(outcome)
    return f"{gpus} {verb} {asked}{cost}" + (f"; {attained}" if attained else "")


def line(outcome: Outcome, comparison: str = ".") -> str:
    """Return what binds the speed, and how fast a user reads, in one plain line of Markdown."""
    if outcome.metrics.status == "overloaded":
        return _sustained(outcome)
    parts = []
    usage, rates = outcome.usage, outcome.metrics.throughput
    if usage is not None:
        share = percent(usage.share_by_bound[usage.bound], 0)
        parts.append(f"Bound by **{bound_label(usage.bound)}** for {share} of the busy time.")
    if rates.user_tokens_per_s is not None:
        speed = f"The median user gets **{number(rates.user_tokens_per_s)} tokens/s**"
        parts.append(f"{speed}{_aside(rates.interval_user_tokens_per_s)}{comparison}")
    return " ".join(parts)


def compared(outcome: Outcome, baseline: Outcome | None) -> str:
    """Return how the speed of a user compares with autoregressive decoding: the end of `line`.

    The range holds the ratio for all values of the two 90 % intervals.
    """
    if baseline is None:
        return "."
    if baseline.metrics.status == "overloaded":
        return "; autoregressive decoding is overloaded at this load."
    mine, its = outcome.metrics.throughput, baseline.metrics.throughput
    if not mine.user_tokens_per_s or not its.user_tokens_per_s:
        return "."
    ratio = f"{mine.user_tokens_per_s / its.user_tokens_per_s:.2g}×"
    low_high = ""
    if mine.interval_user_tokens_per_s and its.interval_user_tokens_per_s:
        low = mine.interval_user_tokens_per_s[0] / its.interval_user_tokens_per_s[1]
        high = mine.interval_user_tokens_per_s[1] / its.interval_user_tokens_per_s[0]
        low_high = f" ({low:.2f} – {high:.2f}×)"
    return f", **{ratio}** autoregressive decoding{low_high}."


def origin(outcome: Outcome) -> str:
    """Return the origin of what makes up the times, with the held-out error where it is known."""
    kernels, decoding = outcome.provenance["kernels"], outcome.provenance["decoding"]
    error = f"held-out error {kernels.error}" if kernels.error else "error not known yet"
    part = ", some assumed" if "borrowed kernels" in outcome.provenance else ""
    words = f"kernels {kernels.origin}{part}, {error}"
    return words if decoding.origin == "measured" else f"{words}; decoding {decoding.origin}"


def gpus_label(scenario: Scenario) -> str:
    """Return the hardware in words."""
    return f"{scenario.deployment.gpus} × {gpu_label(scenario.hardware)}"


def load_label(scenario: Scenario) -> str:
    """Return what is asked of the deployment in words."""
    arrivals = scenario.workload.arrivals
    if isinstance(arrivals, ClosedLoop):
        return f"{count(arrivals.users)} users at once"
    rate = scenario.workload.offered_requests_per_s
    return "this trace" if rate is None else f"{rate:.3g} requests/s"


def _aside(interval: Interval | None) -> str:
    return "" if interval is None else f" ({span(interval, number)})"


def _attained(outcome: Outcome) -> str | None:
    slo, result = outcome.scenario.slo, outcome.metrics.slo
    targets = len(slo.per_request_s())
    if not targets or result.attainment is None:
        return None
    which = _TARGETS.get(targets, f"all {targets} targets")
    only = "" if result.attainment >= slo.attainment else "only "
    return f"{only}{percent(result.attainment)} of requests are inside {which}"


def _sustained(outcome: Outcome) -> str:
    rate = outcome.metrics.sustainable_requests_per_s
    known = NOTHING if rate is None else f"about **{number(rate, 2)} requests/s**"
    grows = "The queue grows for as long as the traffic lasts, so no latency can be given."
    return f"The deployment sustains {known} of this traffic. {grows}"
