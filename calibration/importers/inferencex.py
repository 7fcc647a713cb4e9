"""InferenceX (at first InferenceMAX): its aggregated JSON, one object or a list of them.

Times are in seconds without saying so (`mean_ttft`), throughput is per GPU. Lengths are uniform
from 80 % of `isl` and `osl` upwards, with ten prompts for each of `conc` users: what the suite's
scripts pass to the client (`--random-range-ratio 0.8`, `--num-prompts`), and not in the file. The
rows of its web service have the same figures under `metrics`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from calibration.importers.figures import Told, impossible, lost
from calibration.importers.files import Document
from calibration.importers.gpus import gpu_name
from calibration.importers.names import known_engine
from calibration.importers.numbers import milliseconds, positive, text, whole
from calibration.importers.record import (
    SPLIT,
    STATISTICS,
    Benchmark,
    Lengths,
    Read,
    Served,
    Unusable,
)
from calibration.suites import PROMPTS_PER_USER, SHORTEST_SHARE, checkpoint_of

NAME: Final = "InferenceX (aggregated JSON)"
_LATENCIES: Final = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "ttlt"}


def recognises(document: Document) -> bool:
    """Tell whether a document is a result of this suite."""
    return "conc" in document and "tput_per_gpu" in _measured(document)


def read_all(document: Document, case: str) -> Iterator[Read]:
    """Return the run of a document, or why it cannot be used."""
    yield _read(document, case)


def _measured(document: Document) -> Mapping[str, object]:
    nested = document.get("metrics")
    return nested if isinstance(nested, Mapping) else document


def _read(document: Document, case: str) -> Read:
    if _yes(document.get("disagg")):
        return Unusable(case, SPLIT)
    wrong = impossible(_told(document))
    if wrong is not None:
        return Unusable(case, wrong)
    users = whole(document.get("conc"))
    asked = [positive(document.get(side)) for side in ("isl", "osl")]
    figures = _figures(_measured(document))
    if users is None or asked[0] is None or asked[1] is None or not figures:
        return Unusable(case, "holds no `conc`, `isl`, `osl` or no latency above 0")
    served = _served(document, users)
    a_gpu = positive(_measured(document).get("output_tput_per_gpu"))
    gpus = _width(document)
    if a_gpu is not None and gpus is not None:  # of how many GPUs it was is not guessed
        figures["output_tokens_per_s"] = a_gpu * gpus
    drafted = text(document.get("spec_decoding")) or text(document.get("spec_method"))
    return Benchmark(
        case=case,
        tool=NAME,
        inputs=_lengths(asked[0]),
        outputs=_lengths(asked[1]),
        prompts=PROMPTS_PER_USER * users,
        figures=figures,
        served=served,
        users=users,
        speculative=drafted not in {None, "none"},
        notes=lost(_told(document)),
    )


def _told(document: Document) -> Told:
    """Return the figures that are read, as they stand there."""
    measured = _measured(document)
    names = (f"{statistic}_{latency}" for latency in _LATENCIES for statistic in STATISTICS)
    for name in (*names, "output_tput_per_gpu"):
        yield name, measured.get(name)


def _figures(measured: Mapping[str, object]) -> dict[str, float]:
    found = {
        f"{ours}_{statistic}_ms": milliseconds(measured.get(f"{statistic}_{theirs}"), "s")
        for theirs, ours in _LATENCIES.items()
        for statistic in STATISTICS
    }
    return {name: value for name, value in found.items() if value is not None}


def _lengths(asked: float) -> Lengths:
    low = max(1.0, SHORTEST_SHARE * asked // 1)
    return Lengths((low + asked) / 2, quantiles=((0.0, low), (1.0, asked)), asked=asked)


def _served(document: Document, users: int) -> Served:
    runner = text(document.get("hw")) or text(document.get("hardware")) or ""
    prefix = text(document.get("infmax_model_prefix")) or text(document.get("model")) or ""
    width = _width(document)
    spread = _yes(document.get("dp_attention")) or _yes(document.get("decode_dp_attention"))
    framework = (text(document.get("framework")) or "").lower()
    return Served(
        model=checkpoint_of(prefix) or text(document.get("model")),
        gpu=gpu_name(re.split(r"[-_]", runner)[0])[0],  # `h200-nv_0` is a runner with H200
        engine=known_engine(framework) or framework or None,
        weights=text(document.get("precision")),
        tensor_parallel=1 if spread else width,
        attention_data_parallel=width if spread else None,
        expert_parallel=whole(document.get("ep")) or whole(document.get("decode_ep")),
        max_sequences=users,
    )


def _width(document: Document) -> int | None:
    """Return the GPUs of the server: its `tp` counts all of them."""
    return whole(document.get("tp")) or whole(document.get("decode_tp"))


def _yes(value: object) -> bool:
    return value is True or str(value).lower() == "true"
