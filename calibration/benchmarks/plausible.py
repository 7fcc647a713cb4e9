"""Do the figures of one run agree with each other? A slip of units breaks them by a thousand."""

from calibration.importers import Benchmark, Lengths
from calibration.importers.record import LATENCIES, STATISTICS
from sim.units import MS_PER_S, counted

_MOST = 3.0
_LEAST = 1 / 50
"""Bounds of (requests in flight by Little's law) / (users); a run that drains stays inside."""
_APART = 2.0
"""So far may a rate and the count over the duration be apart: tools leave warm-up or drain out."""
_MEAN_TO_P99 = 3.0
"""A mean of so many times the 99th percentile would be made by one request in a hundred."""
_TPOT_TO_ITL = 5.0
"""TPOT weighs answers alike, ITL tokens; chunks of several tokens make ITL the longer one."""
_ROUNDED = 1.02

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
            return (
                f"{min(count, 10**300):,.3g} {what}: at most {_MOST_REQUESTS:,} can be simulated"
            )
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
    return (
        _against_the_duration(run)
        or _against_its_statistics(run)
        or _against_littles_law(run, wait_ms, between_ms)
    )


def _against_the_duration(run: Benchmark) -> str | None:
    """N / T is the rate of requests, times the mean answer that of tokens; within a factor."""
    rate, tokens = run.figures.get("requests_per_s"), run.figures.get("output_tokens_per_s")
    answer = run.outputs.mean
    if rate is not None and tokens is not None and _far(rate * answer, tokens):
        return (
            f"{_said(rate)} requests/s of {_said(answer)} tokens are {_said(rate * answer)}"
            f" tokens/s, where the file has {_said(tokens)}: one of them is wrong"
        )
    if run.duration_s is None or run.prompts is None:
        return None
    told = f"{counted(run.prompts, 'request')} in a duration of {_said(run.duration_s)} s are"
    counted_rate = run.prompts / run.duration_s
    if rate is not None and _far(counted_rate, rate):
        return (
            f"{told} {_said(counted_rate)} requests/s, where the file has {_said(rate)}:"
            " one of them is wrong"
        )
    if tokens is not None and _far(counted_rate * answer, tokens):
        return (
            f"{told} {_said(counted_rate * answer)} tokens/s, where the file has {_said(tokens)}:"
            " one of them is wrong"
        )
    return None


def _said(value: float) -> str:
    """Return four digits, and no exponent."""
    return f"{float(f'{value:.4g}'):,.10g}"


def _far(one: float, other: float) -> bool:
    return not 1 / _APART <= one / other <= _APART


def _against_its_statistics(run: Benchmark) -> str | None:
    """Times are not below 0, so that a mean is at least half of its median (Markov)."""
    for latency in LATENCIES:
        mean, median, p99 = (run.figures.get(f"{latency}_{name}_ms") for name in STATISTICS)
        name = latency.replace("_", " ").upper()
        if mean is not None and median is not None and _ROUNDED * mean < median / 2:
            return _pair(name, "mean", mean, "median", median)
        if median is not None and p99 is not None and median > _ROUNDED * p99:
            return _pair(name, "median", median, "99th percentile", p99)
        if mean is not None and p99 is not None and mean > _MEAN_TO_P99 * p99:
            return _pair(name, "mean", mean, "99th percentile", p99)
    tpot, itl = run.figures.get("tpot_mean_ms"), run.figures.get("itl_mean_ms")
    if tpot is not None and itl is not None and tpot > _TPOT_TO_ITL * itl:
        return (
            f"a mean TPOT of {_said(tpot)} ms beside a mean ITL of {_said(itl)} ms: one of them is"
            " wrong"
        )
    return None


def _pair(name: str, one: str, one_ms: float, other: str, other_ms: float) -> str:
    return (
        f"{name} with a {one} of {_said(one_ms)} ms and a {other} of {_said(other_ms)} ms: one of"
        " them is wrong"
    )


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
