"""`vllm bench serve` (and `benchmark_serving.py`): JSON, or JSON Lines with one run a line.

Latencies are in ms under `mean_ttft_ms` and the like; detailed lists (`ttfts`, `itls`) in seconds
are not needed, `input_lens` and `output_lens` are used where there are any. A file that merges
its runs with metadata may name the GPU (`"gpu": "4xNVIDIA_L40S"`) and the engine (`framework`).
"""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from calibration.importers.figures import impossible, lost
from calibration.importers.files import Document
from calibration.importers.gpus import gpu_name
from calibration.importers.names import known_engine
from calibration.importers.numbers import number, positive, text, whole
from calibration.importers.record import (
    STATISTICS,
    Benchmark,
    Lengths,
    Read,
    Served,
    Unusable,
)

NAME: Final = "vllm bench serve (JSON, JSON Lines)"
_LATENCIES: Final = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "ttlt"}
_OTHER_FIGURES: Final = ("duration", "request_throughput", "output_throughput")


def recognises(names: Collection[str]) -> bool:
    """Tell whether a document is one run of this tool, or a header that of `vllm bench sweep`."""
    return any(f"mean_{latency}_ms" in names for latency in _LATENCIES) and (
        "request_rate" in names or "num_prompts" in names
    )


def read_all(document: Document, case: str) -> Iterator[Read]:
    """Return the one run of a document, or why it measured nothing."""
    yield _read(document, case)


def _read(document: Document, case: str) -> Read:
    wrong = _embeds(document) or no_time(document) or _ramp(document)
    if wrong is not None:
        return Unusable(case, wrong)
    completed = number(document.get("completed"))
    if completed is not None and not math.isfinite(completed):
        return Unusable(case, f"`completed` is {completed}, which is no count")
    failed = _failed(document, completed)
    if completed == 0:
        return Unusable(case, f"no request was answered ({failed or 'all'} failed)")
    measured = figures(document, _LATENCIES)
    if not measured:
        return Unusable(case, "holds no latency and no throughput above 0")
    inputs, outputs = (
        lengths(document, "input", "input_len"),
        lengths(document, "output", "output_len"),
    )
    if inputs is None or outputs is None:
        return Unusable(case, "does not tell how long prompts and answers were")
    rate = number(document.get("request_rate"))
    return Benchmark(
        case=case,
        tool=NAME,
        inputs=inputs,
        outputs=outputs,
        prompts=whole(completed) or whole(document.get("num_prompts")),
        figures=measured,
        served=_served(document),
        requests_per_s=rate if rate is not None and 0 < rate < math.inf else None,
        burstiness=positive(document.get("burstiness")) or 1.0,
        users=whole(document.get("max_concurrency")),
        at_once=rate == math.inf,
        failed=failed,
        duration_s=positive(document.get("duration")),
        speculative=bool(whole(document.get("spec_decode_num_drafts"))),
        denoised=positive(document.get("diffusion_denoising_steps")) is not None,
        notes=no_numbers(document, _LATENCIES),
    )


def no_time(document: Document) -> str | None:
    """Say which figure cannot be one: below 0, or text that is no number (`96,1`)."""
    return impossible((name, value) for name, value in document.items() if _is_figure(name))


def _is_figure(name: str) -> bool:
    return name.endswith("_ms") or name in _OTHER_FIGURES


def no_numbers(document: Document, latencies: Mapping[str, str]) -> tuple[str, ...]:
    """Say which figures stand in the file and are no number, such as NaN, and so in no error."""
    read = [f"{statistic}_{name}_ms" for name in latencies for statistic in STATISTICS]
    return lost((name, document.get(name)) for name in (*read, *_OTHER_FIGURES))


def _embeds(document: Document) -> str | None:
    embeds = "input_sequence_throughput" in document
    return "is of a model that answers with embeddings, not with text" if embeds else None


def _ramp(document: Document) -> str | None:
    kind = text(document.get("ramp_up_strategy"))
    if kind is None:
        return None
    low, high = (document.get(f"ramp_up_{end}_rps") for end in ("start", "end"))
    return f"its rate rose from {low} to {high}/s ({kind}), which is not replayed"


def figures(document: Document, latencies: dict[str, str]) -> dict[str, float]:
    """Return the figures of a run by our names; zeros, which stand for nothing, are left out."""
    found: dict[str, float | None] = {
        f"{ours}_{statistic}_ms": positive(document.get(f"{statistic}_{theirs}_ms"))
        for theirs, ours in latencies.items()
        for statistic in STATISTICS
    }
    found["output_tokens_per_s"] = positive(document.get("output_throughput"))
    found["requests_per_s"] = positive(document.get("request_throughput"))
    return {name: value for name, value in found.items() if value is not None}


def lengths(document: Document, side: str, nominal: str) -> Lengths | None:
    """Return the lengths of one side: listed, or their mean from the totals, or as asked for."""
    listed = document.get(f"{side}_lens")
    if isinstance(listed, list):
        tokens = tuple(int(one) for one in map(positive, listed) if one is not None and one >= 1)
        if tokens:
            return Lengths(sum(tokens) / len(tokens), each=tokens)
    total, count = positive(document.get(f"total_{side}_tokens")), whole(document.get("completed"))
    if total is not None and count is not None:
        return Lengths(total / count)
    asked = positive(document.get(nominal))
    return None if asked is None else Lengths(asked)


def _failed(document: Document, completed: float | None) -> int:
    told = whole(document.get("failed"))
    asked = whole(document.get("num_prompts"))
    if told is None and asked is not None and completed is not None:
        return max(0, asked - int(completed))
    return told or 0


def _served(document: Document) -> Served:
    gpu, gpus = gpu_name(document.get("gpu"))
    replicas = whole(document.get("decode_replicas"))
    label = text(document.get("framework")) or text(document.get("backend")) or ""
    width = gpus // replicas if gpus and replicas and gpus % replicas == 0 else None
    return Served(
        model=text(document.get("model_id")) or text(document.get("tokenizer_id")),
        gpu=gpu,
        engine=known_engine(label),
        tensor_parallel=whole(document.get("tensor_parallel_size")) or width,
        replicas=replicas,
    )
