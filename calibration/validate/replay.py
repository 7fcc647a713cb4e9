"""Simulate one measured run as its benchmark drove it. No number in here is fitted to a run."""

from dataclasses import dataclass
from math import floor
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Literal

import numpy as np

from calibration.suites import PROMPTS_PER_USER, SHORTEST_SHARE
from calibration.validate.recipes import FP8_KV_ENGINES, Recipe, Settings, recipe_of
from calibration.validate.runs import KNOWN_WEIGHTS, MeasuredRun
from sim.engine import simulate
from sim.errors import SimError, UnknownNameError
from sim.metrics.quantities import engine_ttft_s, finished, tpot_s
from sim.model import load_model
from sim.model.load import checkpoint_in
from sim.model.weight_format import PARTS, Format
from sim.precision import Precision
from sim.records import FloatArray, Status
from sim.scenario import Scenario, build_scenario, resolve
from sim.units import MS_PER_S
from sim.workload import stream

Statistic = Literal["mean", "median"]

_SEED: Final = 0
_UNQUANTISED: Final = frozenset({"bf16", "fp16"})


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


@dataclass(frozen=True, slots=True)
class Served:
    """The checkpoint that a run's model and label of the weights mean."""

    reference: str
    """Model of the scenario: as the row calls it, or a quantised checkpoint of the catalog."""
    weights: str
    """`checkpoint`, or the format that the engine quantises to."""
    kv_precision: Precision | None
    """Format of the KV cache that the checkpoint asks for; None: none."""


def served_of(run: MeasuredRun) -> Served:
    """Return what a row's model in a row's format is.

    A label that the checkpoint itself carries in any part is the checkpoint ("fp8": also by
    blocks; "fp4": MXFP4 or NVFP4; "bf16": in all parts). Else it is the checkpoint in NVFP4 or in
    blocks of FP8 that the catalog lists of the model (they leave some parts in bf16); else the
    engine quantises all.
    """
    model = load_model(run.model)
    own = {model.weights.of(part) for part in PARTS}
    meant: dict[str, tuple[Format, ...]] = {
        "fp8": ("fp8", "fp8_block"),
        "fp4": ("mxfp4", "nvfp4"),
    }
    carried = own & set(meant.get(run.weights, (run.weights,)))
    if carried and (run.weights not in _UNQUANTISED or own == carried):
        return Served(run.model, "checkpoint", model.weights.kv)
    published: dict[str, Format] = {"fp8": "fp8_block", "fp4": "nvfp4", "nvfp4": "nvfp4"}
    if run.weights in published:
        found = checkpoint_in(model.name, published[run.weights])
        if found is not None:
            return Served(found, "checkpoint", load_model(found).weights.kv)
    return Served(run.model, "nvfp4" if run.weights == "fp4" else run.weights, None)


def scenario_of(run: MeasuredRun, settings: Settings = "suite") -> Scenario:
    """Return the closed loop of the benchmark on the run's deployment, or raise `SimError`.

    What the row says of its server comes first, then (`settings`) the suite's scripts where the
    run is one of theirs, then the engine's defaults.
    """
    recipe, own, served = recipe_of(run, settings), run.own, served_of(run)
    content: dict[str, Any] = {
        "name": run.case,
        "model": served.reference,
        "hardware": run.gpu,
        "engine": run.engine,
        "engine_options": {**recipe.engine_options, **dict(own.engine)},
        "deployment": _deployment(run, recipe, served),
        "decoding": own.decoding or recipe.decoding,
        "scheduler": recipe.scheduler,
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": run.concurrency},
            "input_tokens": _lengths(run, recipe, run.input_tokens),
            "output_tokens": _lengths(run, recipe, run.output_tokens),
        },
        "run": {
            "requests": own.num_prompts or PROMPTS_PER_USER * run.concurrency,
            "seed": _SEED,
        },
    }
    return build_scenario(content, where="the run", folder=Path())


def _deployment(run: MeasuredRun, recipe: Recipe, served: Served) -> dict[str, object]:
    # A checkpoint's own wish for the cache is what an engine of such a default follows.
    follows = not recipe.script and run.engine in FP8_KV_ENGINES and served.kv_precision
    return {
        "tensor_parallel": run.tensor_parallel,
        "expert_parallel": recipe.expert_parallel,
        "attention_data_parallel": run.attention_data_parallel,
        "weights": served.weights,
        "kv_precision": follows or recipe.kv_precision,
        "max_sequences": run.concurrency,
        "max_batched_tokens": recipe.max_batched_tokens,
    } | dict(run.own.deployment)


def _lengths(run: MeasuredRun, recipe: Recipe, nominal: int) -> dict[str, object]:
    """Return the lengths that a nominal one stands for: the longest, or (recipe) the mean.

    How far lengths spread around a mean is not known: as far as with the suite's share. A row
    that says its share has the longest.
    """
    share = run.own.shortest_share
    if share is None:
        share = SHORTEST_SHARE
        if recipe.lengths == "around":
            half = round((1 - share) / 2 * nominal)
            return {"kind": "uniform", "low": nominal - half, "high": nominal + half}
    return {"kind": "uniform", "low": max(1, floor(share * nominal)), "high": nominal}


def predict(
    run: MeasuredRun,
    statistic: Statistic,
    engine_file: Path | None = None,
    settings: Settings = "suite",
) -> Prediction | Refusal:
    """Simulate one run, or say why that cannot be done.

    `settings` says whose stand where the row says nothing. `engine_file` is a preset that stands
    in for that of the run's engine, for fits of it.
    """
    started_s = perf_counter()
    reason = _refusal(run)
    if reason is not None:
        return Refusal(run.case, reason)
    try:
        scenario = scenario_of(run, settings)
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
    if run.weights not in KNOWN_WEIGHTS:
        return f"weights in {run.weights} are not counted ({', '.join(KNOWN_WEIGHTS)} are)"
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
