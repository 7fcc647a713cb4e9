"""AIPerf (and GenAI-Perf before it): JSON with a unit beside every metric, or CSV.

Its inter-token latency is (request latency - TTFT) / (tokens - 1) of each request, our TPOT; its
inter-chunk latency pools the gaps, our ITL. The CSV tells neither the load nor the model: a
scenario has to.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from calibration.importers.figures import Told, impossible, lost
from calibration.importers.files import Document
from calibration.importers.numbers import (
    PERCENTILES,
    at,
    milliseconds,
    positive,
    quantiles,
    text,
    whole,
)
from calibration.importers.record import Benchmark, Lengths, Read, Served, Unusable

NAME: Final = "AIPerf or GenAI-Perf (JSON, CSV)"
_TIMES: Final = {
    "time_to_first_token": "ttft",
    "inter_token_latency": "tpot",
    "inter_chunk_latency": "itl",
    "request_latency": "ttlt",
}
_RATES: Final = {
    "output_token_throughput": "output_tokens_per_s",
    "request_throughput": "requests_per_s",
}
_STATISTICS: Final = {"avg": "mean", "p50": "median", "p99": "p99"}


def recognises(document: Document) -> bool:
    """Tell whether a document is a report of this tool."""
    document = _whole(document)
    return isinstance(document.get("time_to_first_token"), Mapping) or (
        isinstance(document.get("request_latency"), Mapping) and "input_config" in document
    )


def read_all(document: Document, case: str) -> Iterator[Read]:
    """Return the run of a report, or why it measured nothing."""
    yield read(document, case)


def _whole(document: Document) -> Document:
    """Return a report with its metrics on top: early versions had them under `records`."""
    inner = document.get("records")
    return {**document, **inner} if isinstance(inner, Mapping) else document


def read(document: Document, case: str) -> Read:
    """Return the run, or why it measured nothing."""
    document = _whole(document)
    wrong = impossible(_told(document))
    if wrong is not None:
        return Unusable(case, wrong)
    figures = _figures(document)
    inputs = _lengths(document, "input_sequence_length")
    outputs = _lengths(document, "output_sequence_length")
    if not figures or inputs is None or outputs is None:
        return Unusable(case, "no request was answered, or its figures are empty")
    users, rate = _load(document)
    return Benchmark(
        case=case,
        tool=NAME,
        inputs=inputs,
        outputs=outputs,
        prompts=whole(at(document, "request_count", "avg")),
        figures=figures,
        served=Served(model=_model(document)),
        requests_per_s=rate,
        users=users,
        failed=whole(at(document, "error_request_count", "avg")) or 0,
        duration_s=positive(at(document, "benchmark_duration", "avg")),
        notes=lost(_told(document)),
    )


def _told(document: Document) -> Told:
    """Return the figures that are read, as they stand there; with a unit that is no time's."""
    for name in _TIMES:
        unit = text(at(document, name, "unit")) or "ms"
        for statistic in _STATISTICS:
            value = at(document, name, statistic)
            known = milliseconds(1.0, unit) is not None or positive(value) is None
            yield f"{name}.{statistic}", value if known else f"{value} {unit}"
    for name in _RATES:
        yield f"{name}.avg", at(document, name, "avg")


def _figures(document: Document) -> dict[str, float]:
    found: dict[str, float | None] = {}
    for theirs, ours in _TIMES.items():
        unit = text(at(document, theirs, "unit")) or "ms"
        for statistic, name in _STATISTICS.items():
            value = at(document, theirs, statistic)
            found[f"{ours}_{name}_ms"] = milliseconds(value, unit)
    for theirs, ours in _RATES.items():
        found[ours] = positive(at(document, theirs, "avg"))
    return {name: value for name, value in found.items() if value is not None}


def _lengths(document: Document, name: str) -> Lengths | None:
    mean = positive(at(document, name, "avg"))
    if mean is None:
        return None
    inner = {p: at(document, name, f"p{p}") for p in PERCENTILES}
    low, high = at(document, name, "min"), at(document, name, "max")
    return Lengths(mean, quantiles=quantiles(low, inner, high))


def _load(document: Document) -> tuple[int | None, float | None]:
    """Return users and rate: of the measured phase, of `loadgen`, or of the command line."""
    phases = at(document, "input_config", "phases")
    measured = [
        phase
        for phase in (phases if isinstance(phases, list) else [])
        if isinstance(phase, Mapping) and not phase.get("exclude_from_results")
    ]
    elsewhere = (("loadgen",), ("perf_analyzer", "stimulus"), ())
    parts = (at(document, "input_config", *keys) for keys in elsewhere)
    for part in (*measured[-1:], *parts):
        users = whole(_only(at(part, "concurrency")))
        rate = positive(_only(at(part, "request_rate"))) or positive(at(part, "rate"))
        if users or rate:
            return users, rate
    command = text(at(document, "run_info", "cli_command")) or text(
        at(document, "input_config", "cli_command")
    )
    return (
        whole(_option(command, "concurrency")),
        positive(_option(command, "request-rate")),
    )


def _only(value: object) -> object:
    """Return the one entry of a list, which GenAI-Perf makes of every option, or the value."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _option(command: str | None, name: str) -> str | None:
    found = re.search(rf"--{name}[= ]+'?([\d.]+)", command or "")
    return found[1] if found else None


def _model(document: Document) -> str | None:
    items = at(document, "input_config", "models", "items")
    listed = items[0] if isinstance(items, list) and items else None
    places = (("endpoint", "model_names"), ("model_names",), ("model",))
    named = (text(_only(at(document, "input_config", *place))) for place in places)
    return text(at(listed, "name")) or next((name for name in named if name), None)


def recognises_table(header: Sequence[str]) -> bool:
    """Tell whether the header of a CSV file is that of this tool."""
    return list(header[:2]) == ["Metric", "avg"]


def document_of(content: str) -> Document:
    """Return the tables of a CSV file in the form of the JSON report."""
    document: dict[str, dict[str, object]] = {}
    header: list[str] = []
    for row in csv.reader(content.splitlines()):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if cells[0] in {"Metric", "Endpoint"}:
            header = ["avg" if cell == "Value" else cell for cell in cells]
            continue
        if not header or header[0] != "Metric":
            continue  # telemetry of GPUs
        label = re.match(r"^(.*?)(?:\s*\(([^()]*)\))?$", cells[0])
        name, unit = (label[1], label[2]) if label else (cells[0], None)
        values = dict(zip(header[1:], cells[1:], strict=False))
        document.setdefault(_key(name), {"unit": unit or "", **values})
    return document


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
