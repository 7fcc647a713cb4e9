"""What stands below the headline: one plain line with what binds, and the origin of the times."""

from sim.metrics.intervals import Interval
from sim.report.answer import bound_label
from sim.report.words import number, percent, ratio, span
from sim.run import Outcome


def line(outcome: Outcome, comparison: str = ".") -> str:
    """Return what binds the speed, and how fast a user reads, in one plain line of Markdown."""
    if outcome.metrics.status == "overloaded":
        return "The queue grows for as long as the traffic lasts, so no latency can be given."
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
    times = ratio(mine.user_tokens_per_s / its.user_tokens_per_s)
    low_high = ""
    if mine.interval_user_tokens_per_s and its.interval_user_tokens_per_s:
        low = mine.interval_user_tokens_per_s[0] / its.interval_user_tokens_per_s[1]
        high = mine.interval_user_tokens_per_s[1] / its.interval_user_tokens_per_s[0]
        low_high = f" ({span((low, high), lambda value: ratio(value, 2))})"
    return f", **{times}** autoregressive decoding{low_high}."


def origin(outcome: Outcome) -> str:
    """Return the origin of what makes up the times, with the held-out errors where known."""
    kernels, decoding = outcome.provenance["kernels"], outcome.provenance["decoding"]
    own = outcome.provenance.get("own kernels")
    part = f", your own {own.origin}" if own is not None else ""
    part += ", some assumed" if "borrowed kernels" in outcome.provenance else ""
    words = f"kernels {kernels.origin}{part}, {_held_out(outcome)}"
    return words if decoding.origin == "measured" else f"{words}; decoding {decoding.origin}"


def origin_help(outcome: Outcome) -> str:
    """Return the errors one by one, and what the decoding rests on."""
    kernels, decoding = outcome.provenance["kernels"], outcome.provenance["decoding"]
    errors = f"Kernels, {kernels.error}." if kernels.error else "No error of a kernel is known."
    own = outcome.provenance.get("own kernels")
    if own is not None and own.error:
        errors += f" Your own kernels, {own.error}."
    return f"{errors} Decoding: {decoding.source}. All origins stand in the last tab."


def _held_out(outcome: Outcome) -> str:
    """Return the errors on shapes that the fits of this run had not seen, from best to worst."""
    used, fitted = set(outcome.serving.cost.fits_used), outcome.serving.fitted
    errors = [error for name, error in fitted.error.items() if error is not None and name in used]
    if not errors:
        return "error not known yet"
    low, high = percent(min(errors)), percent(max(errors))
    return f"held-out error {low if low == high else span((min(errors), max(errors)), percent)}"


def _aside(interval: Interval | None) -> str:
    return "" if interval is None else f" ({span(interval, number)})"
