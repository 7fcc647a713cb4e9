"""Do the figures of one run agree with each other? A slip of units breaks them by a thousand."""

from calibration.importers import Benchmark, Lengths
from sim.units import MS_PER_S, counted

_MOST = 3.0
_LEAST = 1 / 50
"""Bounds of (requests in flight by Little's law) / (users); a run that drains stays inside."""


_MOST_TOKENS = 10_000_000
_MOST_REQUESTS = 10_000_000
_LEAST_RATE = 1e-4
"""No benchmark has more, or less; a file that says so would take all memory."""


def contradiction(run: Benchmark) -> str | None:
    """Return why the figures of a run cannot all be true, or None."""
    return _beyond(run) or _against_each_other(run)


def _beyond(run: Benchmark) -> str | None:
    """Say what no benchmark has: answers of less than a token, or of more than all books."""
    for what, lengths in (("prompts", run.inputs), ("answers", run.outputs)):
        low, high = _ends(lengths)
        if not (low >= 1 and high <= _MOST_TOKENS):
            odd = low if low < 1 else high
            return f"{what} of {odd:,.3g} tokens: from 1 to {_MOST_TOKENS:,} can be"
    for what, count in (("requests", run.prompts), ("users", run.users)):
        if count is not None and count > _MOST_REQUESTS:
            return f"{count:,.3g} {what}: at most {_MOST_REQUESTS:,} can be simulated"
    rate = run.requests_per_s
    if rate is not None and not _LEAST_RATE <= rate <= _MOST_REQUESTS:
        return f"a rate of {rate:,.3g} requests/s is none"
    if not _LEAST_RATE <= run.burstiness <= _MOST_REQUESTS:
        return f"a burstiness of {run.burstiness:,.3g} is none: 1 is Poisson"
    return None


def _ends(lengths: Lengths) -> tuple[float, float]:
    tokens = [lengths.mean, *(tokens for _, tokens in lengths.quantiles), *lengths.each]
    return min(tokens), max(tokens)


def _against_each_other(run: Benchmark) -> str | None:
    wait_ms, between_ms = _first(run, "ttft"), _first(run, "tpot") or _first(run, "itl")
    if run.duration_s is not None:
        answer_ms = (between_ms or 0.0) * max(run.outputs.mean - 1, 0)
        for name, time_ms in (("TTFT", wait_ms or 0.0), ("TPOT or ITL over an answer", answer_ms)):
            if time_ms > 2 * run.duration_s * MS_PER_S:
                return (
                    f"{name} of {time_ms:,.0f} ms in a run of {run.duration_s:,.3g} s: one of them"
                    " is in other units than its name says"
                )
    return _against_littles_law(run, wait_ms, between_ms)


def _first(run: Benchmark, latency: str) -> float | None:
    names = (f"{latency}_mean_ms", f"{latency}_median_ms")
    return next((run.figures[name] for name in names if name in run.figures), None)


def _against_littles_law(
    run: Benchmark, wait_ms: float | None, between_ms: float | None
) -> str | None:
    """L = λ W: what is in flight is neither far more than the users nor next to nothing."""
    rate = run.figures.get("requests_per_s")
    if rate is None and "output_tokens_per_s" in run.figures:
        rate = run.figures["output_tokens_per_s"] / run.outputs.mean
    if run.users is None or run.requests_per_s is not None or rate is None or wait_ms is None:
        return None
    if run.prompts is not None and run.prompts < run.users:
        return None
    time_ms = run.figures.get(
        "ttlt_mean_ms", wait_ms + (between_ms or 0.0) * max(run.outputs.mean - 1, 0)
    )
    flying = rate * time_ms / MS_PER_S
    if _LEAST * run.users <= flying <= _MOST * run.users:
        return None
    return (
        f"{rate:,.3g} requests/s of {time_ms:,.3g} ms each are {flying:,.3g} requests in flight,"
        f" for {counted(run.users, 'user')}: a figure is in other units than its name says"
    )
