"""Simulate one measured run as its benchmark drove it. Nothing in here was fitted to a run."""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Literal

import numpy as np

from calibration.validate.recipes import recipe_of
from calibration.validate.rigs import lengths_of
from calibration.validate.runs import MeasuredRun
from sim.engine import simulate
from sim.errors import SimError, UnknownNameError
from sim.metrics.quantities import engine_ttft_s, finished, tpot_s
from sim.model import Model, load_model
from sim.model.weight_format import PARTS
from sim.precision import PRECISIONS
from sim.records import FloatArray, Status
from sim.scenario import Scenario, build_scenario, resolve
from sim.units import MS_PER_S
from sim.workload import stream

Statistic = Literal["mean", "median"]

PROMPTS_PER_USER: Final = 10
"""Convention of the suites: `--num-prompts` is ten times `--max-concurrency`."""
_SEED: Final = 0


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the simulator says about one run."""

    ttft_ms: float
    tpot_ms: float | None
    """None where no answer has a second token."""
    seconds_to_simulate: float
    """Wall-clock time that the simulation took, s."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A run that cannot be simulated, and why."""

    case: str
    reason: str


def weights_of(run: MeasuredRun, model: Model) -> str:
    """Return the format that a run's label means for this model.

    A label that the checkpoint itself carries in any part is the checkpoint ("fp8": also by
    blocks; "fp4": MXFP4 or NVFP4); else "fp4" is NVFP4, the one that engines quantise to.
    """
    own = {model.weights.of(part) for part in PARTS}
    meant = {"fp8": {"fp8", "fp8_block"}, "fp4": {"mxfp4", "nvfp4"}}
    if own & meant.get(run.weights, {run.weights}):
        return "checkpoint"
    return "nvfp4" if run.weights == "fp4" else run.weights


def scenario_of(run: MeasuredRun) -> Scenario:
    """Return the closed loop of the benchmark on the run's deployment, or raise `SimError`."""
    recipe = recipe_of(run)
    content: dict[str, Any] = {
        "name": run.case,
        "model": run.model,
        "hardware": run.gpu,
        "engine": run.engine,
        "engine_options": recipe.engine_options,
        "deployment": {
            "tensor_parallel": run.tensor_parallel,
            "expert_parallel": recipe.expert_parallel,
            "attention_data_parallel": run.attention_data_parallel,
            "weights": weights_of(run, load_model(run.model)),
            "kv_precision": recipe.kv_precision,
            "max_sequences": run.concurrency,
            "max_batched_tokens": recipe.max_batched_tokens,
        },
        "decoding": recipe.decoding,
        "scheduler": recipe.scheduler,
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": run.concurrency},
            "input_tokens": lengths_of(run, run.input_tokens),
            "output_tokens": lengths_of(run, run.output_tokens),
        },
        "run": {"requests": PROMPTS_PER_USER * run.concurrency, "seed": _SEED},
    }
    return build_scenario(content, where="the run", folder=Path())


def predict(
    run: MeasuredRun, statistic: Statistic, engine_file: Path | None = None
) -> Prediction | Refusal:
    """Simulate one run, or say why that cannot be done.

    `engine_file` is a preset that stands in for that of the run's engine, for fits of it.
    """
    started_s = perf_counter()
    reason = _refusal(run)
    if reason is not None:
        return Refusal(run.case, reason)
    try:
        scenario = scenario_of(run)
        if engine_file is not None:
            scenario = scenario.model_copy(update={"engine": str(engine_file)})
        ttfts_s, tpots_s = _latencies(scenario)
    except SimError as error:
        return Refusal(run.case, str(error))
    if ttfts_s is None or tpots_s is None:
        return Refusal(run.case, "a request of the run is longer than the KV pool or the context")
    middle = np.mean if statistic == "mean" else np.median
    tpots_s = tpots_s[~np.isnan(tpots_s)]
    return Prediction(
        ttft_ms=float(middle(ttfts_s)) * MS_PER_S,
        tpot_ms=float(tpots_s.mean()) * MS_PER_S if len(tpots_s) else None,
        seconds_to_simulate=perf_counter() - started_s,
    )


def _refusal(run: MeasuredRun) -> str | None:
    """Return why the simulator has no model of this run, in words rather than a schema's."""
    try:
        load_model(run.model)
    except UnknownNameError:
        return f"model {run.model} is not in the catalog"
    except SimError as error:
        return f"model {run.model}: {error}"
    known = (*PRECISIONS, "fp4")
    if run.weights not in known:
        return f"weights in {run.weights} are not counted ({', '.join(known)} are)"
    return None


def _latencies(scenario: Scenario) -> tuple[FloatArray | None, FloatArray | None]:
    """Return TTFT and TPOT of every request [s]; None where one of them could never run."""
    serving, strategy, seed = resolve(scenario), scenario.decoding, scenario.run.seed
    traffic = scenario.workload.draw(scenario.run.requests, seed)
    passes = strategy.draw_passes(traffic.output_tokens, stream(seed, "acceptance"))
    records = simulate(
        traffic, passes, strategy, serving.cost, serving.limits, draft_cost=serving.draft_cost
    ).records
    if bool((records.status == Status.REJECTED).any()) or not finished(records).all():
        return None, None
    return engine_ttft_s(records), tpot_s(records)
