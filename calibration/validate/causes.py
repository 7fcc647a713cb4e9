"""Why a prediction is off: what is known of the engines, by visible signs.

These are readings of single rows for a report. Nothing here changes a prediction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from calibration.validate.replay import Prediction, scenario_of
from calibration.validate.runs import MeasuredRun
from sim.scenario import resolve

_MANY_USERS: Final = 100
_IMPOSSIBLE: Final = 2.0
_QUEUE_OF_PASSES: Final = 40
"""A mean TTFT of about so many passes is mostly a wait for room, not a prefill."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason that the simulator has no part for yet."""

    name: str
    text: str
    fits: Callable[[MeasuredRun, Prediction], bool]


def _front_end(run: MeasuredRun, _: Prediction) -> bool:
    return run.engine == "sglang" and run.concurrency >= _MANY_USERS


def _out_of_room(run: MeasuredRun, predicted: Prediction) -> bool:
    """Users waited for KV room, in the run or in the simulation of it: all at once have none."""
    if run.tpot_ms is None:
        return False
    if max(run.ttft_ms, predicted.ttft_ms) <= _QUEUE_OF_PASSES * run.tpot_ms:
        return False
    kv = resolve(scenario_of(run)).limits.kv
    return run.concurrency * kv.blocks_for(run.input_tokens + run.output_tokens) > kv.blocks


def _deepseek(run: MeasuredRun, _: Prediction) -> bool:
    return run.engine == "trtllm" and "DeepSeek" in run.model


def _eager_prompts(run: MeasuredRun, predicted: Prediction) -> bool:
    late = predicted.ttft_ms < 0.85 * run.ttft_ms
    return run.engine == "vllm" and run.gpu == "b200_sxm" and "Llama" in run.model and late


def _unrecorded(run: MeasuredRun, _: Prediction) -> bool:
    return "Qwen3-235B" in run.model


def _one_shot(run: MeasuredRun, _: Prediction) -> bool:
    return run.engine == "trtllm" and run.tensor_parallel == 8 and run.concurrency >= 64


def _withheld(run: MeasuredRun, predicted: Prediction) -> bool:
    """Most of the time is spent before the first token, and then tokens come impossibly fast."""
    if run.tpot_ms is None or predicted.tpot_ms is None:
        return False
    after_ms = run.tpot_ms * run.output_tokens
    return run.ttft_ms > 2 * after_ms and predicted.tpot_ms > _IMPOSSIBLE * run.tpot_ms


CAUSES: Final = (
    Cause(
        "answers withheld",
        "gpt-oss with 512 users on H100: tokens come two to fifteen times faster than the GPU"
        " makes them, after a first token that is late by four times as much (see Doubts).",
        _withheld,
    ),
    Cause(
        "front end",
        "One SGLang front end hands out the tokens of all users; with hundreds of them it, not the"
        " GPU, sets the pace. It is simulated with one rate for all models and lengths.",
        _front_end,
    ),
    Cause(
        "KV room",
        "The KV pool is full and users queue for it: TTFT is then the wait, and turns on the last"
        " gigabytes of the pool and on the precision of the KV cache, which the table lacks.",
        _out_of_room,
    ),
    Cause(
        "speculation",
        "DeepSeek-R1 on TensorRT-LLM: some rows drafted tokens, others did not, and the table does"
        " not say which; those taken to have drafted go by a published acceptance that was"
        " measured on other prompts (see Doubts). No constant was made for these rows.",
        _deepseek,
    ),
    Cause(
        "unrecorded settings",
        "Qwen3-235B's rows are slower by a third where all else fits: settings nobody recorded.",
        _unrecorded,
    ),
    Cause(
        "prompts without graphs",
        "The script of these runs captures graphs for decode passes only (FULL_DECODE_ONLY):"
        " passes with prompts wait for their launches, which are counted at the pace of compiled"
        " modules. These take twice as long.",
        _eager_prompts,
    ),
    Cause(
        "wide all-reduce",
        "TensorRT-LLM on eight GPUs with a large batch: late by what a one-shot all-reduce, (n-1)"
        " instead of 2(n-1)/n times the bytes, would add; the fits are of a ring's form.",
        _one_shot,
    ),
)
HOST: Final = Cause(
    "host",
    "Host time of the engine and kernels of its own: one set of host times stands for all models"
    " and versions of an engine, and the kernels of a later version for those of the run.",
    lambda _run, _predicted: True,
)


def cause_of(run: MeasuredRun, predicted: Prediction) -> Cause:
    """Return the first cause whose signs a row shows; `HOST` where it shows none."""
    return next((cause for cause in CAUSES if cause.fits(run, predicted)), HOST)
