"""llmperf: its flat summary (`results_ttft_s_mean`), or a table of loads keyed by users.

The tool's own inter-token latency adds TTFT to the gaps and divides by all tokens, so it is TTLT
/ tokens; its times are in seconds. The table of loads has `latency_ms_per_token`: with the
throughput and Little's law its figures add up only if that leaves TTFT out, so it is a TPOT.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from calibration.importers.figures import Told, impossible, lost
from calibration.importers.files import Document
from calibration.importers.numbers import at, milliseconds, positive, text, whole
from calibration.importers.record import Benchmark, Lengths, Read, Served, Unusable

NAME: Final = "llmperf (JSON)"
_A_REQUEST: Final = frozenset({"ttft_s", "end_to_end_latency_s", "number_output_tokens"})
_TIMES: Final = {
    "ttft_s": "ttft",
    "end_to_end_latency_s": "ttlt",
    "inter_token_latency_s": "per_token",
}
_RATES: Final = (
    "results_mean_output_throughput_token_per_s",
    "results_num_completed_requests_per_min",
)
_OF_A_LOAD: Final = (
    "first-time-to-token_mean_in_ms",
    "latency_ms_per_token",
    "throughput_token_per_s",
)
_LONGEST_MS: Final = 1e9
"""No request takes eleven days; a figure that says so would overflow the sums."""
_STATISTICS: Final = {"mean": "mean", "quantiles_p50": "median", "quantiles_p99": "p99"}


def recognises(document: Document) -> bool:
    """Tell whether a document is a summary of this tool."""
    return (
        "results_ttft_s_mean" in document
        or at(document, "results", "ttft_s") is not None
        or (bool(document) and all(_is_load(one) for one in document.values()))
    )


def recognises_requests(documents: Sequence[Document]) -> bool:
    """Tell whether these are the single requests of one run."""
    return bool(documents) and all(set(one) >= _A_REQUEST for one in documents)


def read_requests(documents: Sequence[Document], case: str) -> Read:
    """Return the run that the requests were of; how they were sent is in the summary only."""
    answered = [one for one in documents if text(one.get("error_msg")) is None]
    told = [(name, one.get(name)) for one in answered for name in _TIMES]
    wrong = impossible(told)
    if wrong is not None:
        return Unusable(case, wrong)
    figures: dict[str, float | None] = {}
    for theirs, ours in _TIMES.items():
        found = [ms for one in answered if (ms := milliseconds(one.get(theirs), "s")) is not None]
        if max(found, default=0.0) > _LONGEST_MS:
            return Unusable(case, f"`{theirs}` is {max(found) / 1e3:.3g} s for a request")
        if found:
            figures[f"{ours}_mean_ms"] = float(np.mean(found))
            figures[f"{ours}_median_ms"] = float(np.median(found))
            figures[f"{ours}_p99_ms"] = float(np.quantile(found, 0.99))
    inputs, outputs = (
        tuple(count for one in answered if (count := whole(one.get(f"number_{side}_tokens"))))
        for side in ("input", "output")
    )
    if not figures or not inputs or not outputs:
        return Unusable(case, "no request was answered, or its figures are empty")
    return Benchmark(
        case=case,
        tool=NAME,
        inputs=Lengths(sum(inputs) / len(inputs), each=inputs),
        outputs=Lengths(sum(outputs) / len(outputs), each=outputs),
        prompts=len(answered),
        figures={name: value for name, value in figures.items() if value is not None},
        failed=len(documents) - len(answered),
        notes=tuple(dict.fromkeys(lost(told))),
    )


def _is_load(one: object) -> bool:
    return isinstance(one, Mapping) and "concurrency" in one and "input_token_length" in one


def read_all(document: Document, case: str) -> Iterator[Read]:
    """Return the run of a summary, or each load of a table; or why there is nothing in it."""
    if all(_is_load(one) for one in document.values()):
        for key, one in document.items():
            if isinstance(one, Mapping):
                yield _load(one, f"{case} #{key}")
        return
    yield _summary(_flat(document), case)


def _load(one: Mapping[str, object], case: str) -> Read:
    told = [(name, one.get(name)) for name in _OF_A_LOAD]
    figures = {
        "ttft_mean_ms": positive(one.get("first-time-to-token_mean_in_ms")),
        "tpot_mean_ms": positive(one.get("latency_ms_per_token")),
        "output_tokens_per_s": positive(one.get("throughput_token_per_s")),
    }
    return _benchmark(
        case,
        figures,
        tokens=(positive(one.get("input_token_length")), positive(one.get("output_token_length"))),
        users=whole(one.get("concurrency")),
        prompts=None,
        model=text(one.get("model")),
        told=told,
    )


def _summary(flat: Mapping[str, object], case: str) -> Read:
    names = [f"results_{theirs}_{statistic}" for theirs in _TIMES for statistic in _STATISTICS]
    told = [(name, flat.get(name)) for name in (*names, *_RATES)]
    figures = {
        f"{ours}_{name}_ms": milliseconds(flat.get(f"results_{theirs}_{statistic}"), "s")
        for theirs, ours in _TIMES.items()
        for statistic, name in _STATISTICS.items()
    }
    figures["output_tokens_per_s"] = positive(
        flat.get("results_mean_output_throughput_token_per_s")
    )
    a_minute = positive(flat.get("results_num_completed_requests_per_min"))
    figures["requests_per_s"] = None if a_minute is None else a_minute / 60
    tokens = [
        positive(flat.get(f"results_number_{side}_tokens_mean"))
        or positive(flat.get(f"mean_{side}_tokens"))
        for side in ("input", "output")
    ]
    return _benchmark(
        case,
        figures,
        tokens=(tokens[0], tokens[1]),
        users=whole(flat.get("num_concurrent_requests")),
        prompts=whole(flat.get("results_num_completed_requests")),
        model=text(flat.get("model")),
        failed=whole(flat.get("results_number_errors")) or 0,
        told=told,
    )


def _benchmark(
    case: str,
    figures: Mapping[str, float | None],
    *,
    tokens: tuple[float | None, float | None],
    users: int | None,
    prompts: int | None,
    model: str | None,
    told: Told,
    failed: int = 0,
) -> Read:
    read = list(told)
    wrong = impossible(read)
    if wrong is not None:
        return Unusable(case, wrong)
    known = {name: value for name, value in figures.items() if value is not None}
    inputs, outputs = tokens
    if not known or inputs is None or outputs is None:
        return Unusable(case, "no request was answered, or its figures are empty")
    return Benchmark(
        case=case,
        tool=NAME,
        inputs=Lengths(inputs),
        outputs=Lengths(outputs),
        prompts=prompts,
        figures=known,
        served=Served(model=model),
        users=users,
        failed=failed,
        notes=lost(read),
    )


def _flat(document: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Return nested results under one key each, as the tool itself flattens them."""
    flat: dict[str, object] = {}
    for key, value in document.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}_"))
        else:
            flat[prefix + key] = value
    return flat
