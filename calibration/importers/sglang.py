"""SGLang's `bench_serving`: JSON Lines, one run a line, with the server's own settings inside.

`random` prompts are uniform from `random_range_ratio` of the asked length upwards; where the
totals contradict that, their mean is taken.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from calibration.importers import vllm
from calibration.importers.files import Document
from calibration.importers.names import known_engine
from calibration.importers.numbers import at, number, positive, text, whole
from calibration.importers.record import Benchmark, Lengths, Read, Served, Unusable

NAME: Final = "SGLang bench_serving (JSON Lines)"
_LATENCIES: Final = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2e_latency": "ttlt"}
_AS_ONE: Final = "prefill and decode ran on servers of their own: simulated as one"
_CLOSE: Final = 0.15
"""A uniform of the asked bounds is believed if the mean of the totals lies so near to its own."""


def recognises(document: Document) -> bool:
    """Tell whether a document is one run of this tool."""
    return "mean_ttft_ms" in document and "mean_e2e_latency_ms" in document


def read_all(document: Document, case: str) -> Iterator[Read]:
    """Return the one run of a document, or why it measured nothing."""
    yield _read(document, case)


def _read(document: Document, case: str) -> Read:
    wrong = vllm.no_time(document)
    if wrong is not None:
        return Unusable(case, wrong)
    completed = whole(document.get("completed"))
    if completed is None:
        return Unusable(case, "no request was answered")
    measured = vllm.figures(document, _LATENCIES)
    inputs, outputs = _lengths(document, "input"), _lengths(document, "output")
    if not measured or inputs is None or outputs is None:
        return Unusable(case, "holds no latency above 0, or no lengths")
    rate = number(document.get("request_rate"))
    server = _server(document)
    split = text(server.get("disaggregation_mode")) not in {None, "null"}
    return Benchmark(
        case=text(document.get("tag")) or case,
        tool=NAME,
        inputs=inputs,
        outputs=outputs,
        prompts=completed,
        figures=measured,
        served=_served(document, server),
        requests_per_s=rate if rate is not None and 0 < rate < math.inf else None,
        users=whole(document.get("max_concurrency")),
        at_once=rate == math.inf,
        duration_s=positive(document.get("duration")),
        speculative=positive(document.get("accept_length")) is not None,
        notes=(*vllm.no_numbers(document, _LATENCIES), *([_AS_ONE] if split else [])),
    )


def _lengths(document: Document, side: str) -> Lengths | None:
    found = vllm.lengths(document, side, f"random_{side}_len")
    asked = whole(document.get(f"random_{side}_len"))
    share = number(document.get("random_range_ratio"))
    if found is None or found.each or asked is None or share is None or not 0 <= share <= 1:
        return found
    low = max(1, math.floor(share * asked))
    if abs((low + asked) / 2 / found.mean - 1) > _CLOSE:
        return found
    return Lengths(found.mean, quantiles=((0.0, low), (1.0, asked)))


def _server(document: Document) -> Mapping[str, object]:
    """Return the server's settings: its own, or those of its first internal state."""
    server = document.get("server_info")
    if not isinstance(server, Mapping):
        return {}
    states = server.get("internal_states")
    if "model_path" not in server and isinstance(states, list) and states:
        return states[0] if isinstance(states[0], Mapping) else {}
    return server


def _served(document: Document, server: Mapping[str, object]) -> Served:
    attention_ranks = whole(server.get("dp_size")) if server.get("enable_dp_attention") else None
    width = whole(server.get("tp_size"))
    if width is not None and attention_ranks is not None:
        width = max(1, width // attention_ranks)  # SGLang's `tp_size` counts all GPUs
    kv = text(server.get("kv_cache_dtype")) or ""
    return Served(
        model=text(server.get("model_path")) or text(at(document, "model_id")),
        engine="sglang" if server else known_engine(str(document.get("backend"))),
        weights={"fp8": "fp8", "int8": "int8"}.get(str(server.get("quantization"))),
        kv_precision="fp8" if kv.startswith("fp8") else None,
        tensor_parallel=width,
        expert_parallel=whole(server.get("ep_size")),
        attention_data_parallel=attention_ranks,
        max_sequences=whole(server.get("max_running_requests")),
        memory_fraction=positive(server.get("mem_fraction_static")),
    )
