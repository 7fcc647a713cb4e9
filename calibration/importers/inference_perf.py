"""inference-perf (kubernetes-sigs): `stage_N_lifecycle_metrics.json`, one stage of a load.

All times are in seconds. `time_per_output_token` leaves the first token out, `inter_token_latency`
pools the gaps, `normalized_time_per_output_token` is TTLT / tokens (its `reportgen/base.py`). The
summary of all stages mixes their loads.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from calibration.importers.figures import Told, impossible, lost
from calibration.importers.files import Document
from calibration.importers.numbers import (
    PERCENTILES,
    at,
    milliseconds,
    positive,
    quantiles,
    whole,
)
from calibration.importers.record import Benchmark, Lengths, Read, Unusable

NAME: Final = "inference-perf (JSON of a stage)"
_TIMES: Final = {
    "time_to_first_token": "ttft",
    "time_per_output_token": "tpot",
    "inter_token_latency": "itl",
    "request_latency": "ttlt",
    "normalized_time_per_output_token": "per_token",
}
_STATISTICS: Final = ("mean", "median", "p99")


def recognises(document: Document) -> bool:
    """Tell whether a document is a report of this tool."""
    return all(isinstance(document.get(part), Mapping) for part in ("load_summary", "successes"))


def read_all(document: Document, case: str) -> Iterator[Read]:
    """Return the stage of a report, or why it cannot be used."""
    yield _read(document, case)


def _read(document: Document, case: str) -> Read:
    load, answered = at(document, "load_summary"), at(document, "successes")
    users, rate = whole(at(load, "concurrency")), positive(at(load, "requested_rate"))
    if users is None and rate is None:
        return Unusable(
            case,
            "is a summary of all stages, which mixes their loads: give the file of one stage"
            " (stage_0_lifecycle_metrics.json)",
        )
    inputs = _lengths(at(answered, "prompt_len")) or _lengths(at(answered, "prompt_tokens"))
    outputs = _lengths(at(answered, "output_tokens")) or _lengths(at(answered, "output_len"))
    wrong = impossible(_told(answered))
    if wrong is not None:
        return Unusable(case, wrong)
    figures = _figures(answered)
    if not figures or inputs is None or outputs is None:
        return Unusable(case, "no request was answered, or its figures are empty")
    return Benchmark(
        case=case,
        tool=NAME,
        inputs=inputs,
        outputs=outputs,
        prompts=whole(at(answered, "count")),
        figures=figures,
        requests_per_s=None if users is not None else rate,
        users=users,
        failed=whole(at(document, "failures", "count")) or 0,
        notes=lost(_told(answered)),
    )


def _told(answered: object) -> Told:
    """Return the figures that are read, as they stand there."""
    for name in _TIMES:
        for statistic in _STATISTICS:
            yield f"{name}.{statistic}", at(answered, "latency", name, statistic)
    for name in ("output_tokens_per_sec", "requests_per_sec"):
        yield name, at(answered, "throughput", name)


def _figures(answered: object) -> dict[str, float]:
    found = {
        f"{ours}_{statistic}_ms": milliseconds(at(answered, "latency", theirs, statistic), "s")
        for theirs, ours in _TIMES.items()
        for statistic in _STATISTICS
    }
    rates = at(answered, "throughput")
    found["output_tokens_per_s"] = positive(at(rates, "output_tokens_per_sec"))
    found["requests_per_s"] = positive(at(rates, "requests_per_sec"))
    return {name: value for name, value in found.items() if value is not None}


def _lengths(found: object) -> Lengths | None:
    mean = positive(at(found, "mean"))
    if mean is None:
        return None
    inner = {p: at(found, "median" if p == 50 else f"p{p}") for p in PERCENTILES}
    return Lengths(mean, quantiles=quantiles(at(found, "min"), inner, at(found, "max")))
