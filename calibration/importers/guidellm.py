"""GuideLLM: JSON with a list of benchmarks, one a load; statistics by `successful` and `total`.

Up to version 0.3 a benchmark's strategy, model and counts lie under `args`, `worker` and
`run_stats`, and `time_per_output_token_ms` leaves the prompt out.

`inter_token_latency_ms` is (last - first token) / (tokens - 1), weighted by tokens: its mean is
that of all gaps. `time_per_output_token_ms` holds the prompt as well: TTLT / tokens. Request
latency is in seconds.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from calibration.importers.figures import Told, impossible, lost
from calibration.importers.files import Document
from calibration.importers.numbers import PERCENTILES, at, positive, quantiles, text, whole
from calibration.importers.record import Benchmark, Lengths, Read, Served, Unusable

NAME: Final = "GuideLLM (JSON)"
_MS: Final = {
    "time_to_first_token_ms": ("ttft", 1.0),
    "request_latency": ("ttlt", 1e3),
}
_CLOSED: Final = frozenset({"concurrent", "synchronous", "throughput"})


def recognises(document: Document) -> bool:
    """Tell whether a document is a report of this tool."""
    return isinstance(document.get("benchmarks"), list)


def read_all(document: Document, case: str) -> Iterator[Read]:
    """Return each benchmark of the report, or why it measured nothing."""
    listed = document.get("benchmarks")
    for place, one in enumerate(listed if isinstance(listed, list) else [], 1):
        name = f"{case} #{place}"
        yield (
            _read(document, one, name)
            if isinstance(one, Mapping)
            else Unusable(name, "is not an object")
        )


def _read(document: Document, one: Mapping[str, object], case: str) -> Read:
    wrong = impossible(_told(one))
    if wrong is not None:
        return Unusable(case, wrong)
    answered = _count(one, "successful") or whole(
        at(one, "scheduler_state", "successful_requests")
    )
    figures = _figures(one)
    inputs, outputs = _lengths(one, "prompt"), _lengths(one, "output")
    if not figures or inputs is None or outputs is None:
        return Unusable(case, "no request was answered in full, or its figures are empty")
    strategy = at(one, "config", "strategy") or at(one, "args", "strategy")
    kind = text(at(strategy, "type_")) or text(at(strategy, "kind"))
    users = whole(at(strategy, "max_concurrency")) or whole(at(strategy, "streams"))
    users = 1 if kind == "synchronous" else users
    rate = None if kind in _CLOSED else positive(at(strategy, "rate"))
    return Benchmark(
        case=case,
        tool=NAME,
        inputs=inputs,
        outputs=outputs,
        prompts=answered,
        figures=figures,
        served=Served(model=_model(document, one)),
        requests_per_s=rate,
        burstiness=1.0 if kind != "constant" else 1e4,  # evenly spaced
        users=users,
        at_once=kind == "throughput",
        failed=_count(one, "errored") or 0,
        notes=lost(_told(one)),
    )


def _told(one: Mapping[str, object]) -> Told:
    """Return the figures that are read, as they stand there."""
    for name in (*_MS, "inter_token_latency_ms", "requests_per_second"):
        found = _statistics(one, name)
        for path in (("mean",), ("median",), ("percentiles", "p99")):
            yield ".".join((name, *path)), at(found, *path)


_COUNTS: Final = (
    ("metrics", "request_totals"),
    ("request_totals",),
    ("total_count",),
    ("run_stats", "requests_made"),
)
"""Where the versions keep how many requests there were of each kind."""


def _count(one: Mapping[str, object], kind: str) -> int | None:
    found = (whole(at(one, *place, kind)) for place in _COUNTS)
    return next((count for count in found if count is not None), None)


def _model(document: Document, one: Mapping[str, object]) -> str | None:
    named = (
        at(document, "args", "model"),
        at(one, "worker", "backend_model"),
        at(one, "model"),
    )
    return next((name for value in named if (name := text(value))), None)


def _statistics(one: Mapping[str, object], name: str) -> object:
    """Return the statistics over answered requests, or over all where the file has only those."""
    return at(one, "metrics", name, "successful") or at(one, "metrics", name, "total")


def _figures(one: Mapping[str, object]) -> dict[str, float]:
    found: dict[str, float | None] = {}
    for theirs, (ours, factor) in _MS.items():
        for statistic, value in _three(_statistics(one, theirs)):
            found[f"{ours}_{statistic}_ms"] = None if value is None else value * factor
    gaps = dict(_three(_statistics(one, "inter_token_latency_ms")))
    found["itl_mean_ms"] = gaps["mean"]
    found["tpot_median_ms"], found["tpot_p99_ms"] = gaps["median"], gaps["p99"]
    if at(one, "args", "strategy") is None:
        whole_answer = dict(_three(_statistics(one, "time_per_output_token_ms")))
        found["per_token_median_ms"] = whole_answer["median"]
    speed = _statistics(one, "requests_per_second")
    found["requests_per_s"] = positive(at(speed, "mean"))
    return {name: value for name, value in found.items() if value is not None}


def _three(statistics: object) -> list[tuple[str, float | None]]:
    return [
        ("mean", positive(at(statistics, "mean"))),
        ("median", positive(at(statistics, "median"))),
        ("p99", positive(at(statistics, "percentiles", "p99"))),
    ]


def _lengths(one: Mapping[str, object], side: str) -> Lengths | None:
    found = _statistics(one, f"{side}_token_count")
    mean = positive(at(found, "mean"))
    if mean is None:
        return None
    inner = {p: at(found, "percentiles", f"p{p:02d}") for p in PERCENTILES}
    return Lengths(mean, quantiles=quantiles(at(found, "min"), inner, at(found, "max")))
