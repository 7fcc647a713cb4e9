"""TensorRT-LLM's `trtllm-bench --report_json`: one run, with engine, machine and world inside.

Times are in ms, per request and without their first token in `tpot` (its own `reporting.py`). Only
a run with `--streaming` has times to first tokens. The limit on requests in flight is not told;
their mean is, and as many users stand in for it: all at once where half of the requests were in
flight on average, as they are when nothing limits them.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from calibration.importers.figures import Told, impossible, lost
from calibration.importers.files import Document
from calibration.importers.gpus import gpu_name
from calibration.importers.numbers import at, positive, text, whole
from calibration.importers.record import Benchmark, Lengths, Read, Served, Unusable
from sim.units import MS_PER_S

NAME: Final = "trtllm-bench (JSON)"
_TIMES: Final = {
    "ttft": ("streaming_metrics", "ttft_percentiles"),
    "tpot": ("streaming_metrics", "tpot_percentiles"),
    "ttlt": ("performance", "request_latency_percentiles_ms"),
}
_STATISTICS: Final = {"average": "mean", "p50": "median", "p99": "p99"}
_MEANS: Final = {
    "ttft_mean_ms": ("streaming_metrics", "avg_ttft_ms"),
    "tpot_mean_ms": ("streaming_metrics", "avg_tpot_ms"),
    "ttlt_mean_ms": ("performance", "avg_request_latency_ms"),
    "output_tokens_per_s": ("performance", "system_output_throughput_tok_s"),
    "requests_per_s": ("performance", "request_throughput_req_s"),
}
_WEIGHTS: Final = {
    "FP8": "fp8",
    "FP8_BLOCK_SCALES": "fp8_block",
    "NVFP4": "nvfp4",
    "W4A8_MXFP4_FP8": "mxfp4",
    "W4A16_MXFP4": "mxfp4",
    "W4A16_AWQ": "int4",
    "W4A16_GPTQ": "int4",
    "W4A8_AWQ": "int4",
    "W8A8_SQ_PER_CHANNEL": "int8",
}
_ALL_AT_ONCE: Final = 0.5
"""Without a limit and with all requests alike, at least this share is in flight on average."""


def recognises(document: Document) -> bool:
    """Tell whether a document is a report of this tool."""
    return all(isinstance(document.get(part), Mapping) for part in ("world_info", "performance"))


def read_all(document: Document, case: str) -> Iterator[Read]:
    """Return the run of a report, or why it measured nothing."""
    yield _read(document, case)


def _read(document: Document, case: str) -> Read:
    wrong = impossible(_told(document))
    if wrong is not None:
        return Unusable(case, wrong)
    asked = at(document, "request_info")
    lengths = [positive(at(asked, f"avg_{side}_length")) for side in ("input", "output")]
    figures = _figures(document)
    if not figures or lengths[0] is None or lengths[1] is None:
        return Unusable(case, "no request was answered, or its figures are empty")
    count, flying = whole(at(asked, "num_requests")), positive(
        at(asked, "avg_num_concurrent_requests")
    )  # fmt: skip
    at_once = count is not None and flying is not None and flying >= _ALL_AT_ONCE * count
    return Benchmark(
        case=case,
        tool=NAME,
        inputs=Lengths(lengths[0]),
        outputs=Lengths(lengths[1]),
        prompts=count,
        figures=figures,
        served=_served(document),
        users=None if at_once or flying is None else math.ceil(flying),
        at_once=at_once,
        duration_s=_seconds(at(document, "performance", "total_latency_ms")),
        speculative=document.get("decoding_stats") is not None,
        notes=(*_notes(document, at_once=at_once, flying=flying), *lost(_told(document))),
    )


def _told(document: Document) -> Told:
    """Return the figures that are read, as they stand there."""
    percentiles = [(*path, statistic) for path in _TIMES.values() for statistic in _STATISTICS]
    for path in (*_MEANS.values(), *percentiles, ("performance", "total_latency_ms")):
        yield ".".join(path), at(document, *path)


def _seconds(milliseconds: object) -> float | None:
    found = positive(milliseconds)
    return None if found is None else found / MS_PER_S


def _figures(document: Document) -> dict[str, float]:
    found = {
        f"{ours}_{name}_ms": positive(at(document, *path, statistic))
        for ours, path in _TIMES.items()
        for statistic, name in _STATISTICS.items()
    }
    found |= {
        ours: value
        for ours, path in _MEANS.items()
        if (value := positive(at(document, *path))) is not None
    }
    return {name: value for name, value in found.items() if value is not None}


def _notes(document: Document, *, at_once: bool, flying: float | None) -> Iterator[str]:
    if flying is not None and not at_once:
        yield (
            "trtllm-bench does not tell the limit on requests in flight: as many users as were in"
            " flight on average stand in for it"
        )
    if document.get("streaming_metrics") is None:
        yield "trtllm-bench without --streaming has no times to first tokens"


def _served(document: Document) -> Served:
    engine, world = at(document, "engine"), at(document, "world_info")
    kv = text(at(engine, "kv_cache_dtype")) or ""
    share = positive(at(world, "kv_cache_percentage"))
    return Served(
        model=text(at(engine, "model")),
        gpu=gpu_name(at(document, "machine", "name"))[0],
        engine="trtllm",
        weights=_WEIGHTS.get(text(at(engine, "quantization")) or ""),
        kv_precision="fp8" if kv.upper() == "FP8" else None,
        tensor_parallel=whole(at(world, "tp_size")),
        pipeline_parallel=whole(at(world, "pp_size")),
        expert_parallel=whole(at(world, "ep_size")),
        max_sequences=whole(at(world, "max_batch_size")),
        memory_fraction=share,
    )
