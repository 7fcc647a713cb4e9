"""Where each number comes from: measured, calibrated (with its error) or assumed."""

from dataclasses import dataclass
from typing import Final, Literal

from sim.scenario import Scenario, Serving
from sim.units import US_PER_S

Origin = Literal["measured", "calibrated", "assumed"]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the answer: its origin, source, and error where it is known."""

    origin: Origin
    source: str
    error: str | None = None


def provenance(scenario: Scenario, serving: Serving) -> dict[str, Part]:
    """Return the origin of every part that goes into the outcome, by name."""
    gpu, fitted, engine = serving.gpu, serving.fitted, serving.engine
    errors = ", ".join(
        f"{name} {value:.1%}" for name, value in fitted.error.items() if value is not None
    )
    parts = {
        "model": Part(
            "measured", f"counted from the published architecture: {serving.model.source}"
        ),
        "peaks": Part("measured", f"datasheet: {gpu.memory_bandwidth_bytes_per_s.source}"),
        "kernels": Part(fitted.origin, _with_note(fitted.source, fitted.note), errors or None),
        **_borrowed(serving),
        "host": Part(engine.origin, _with_note(engine.source, engine.note)),
        "decoding": _decoding(scenario),
        **_drafter(scenario, serving),
        "workload": Part("assumed", scenario.workload.describe()),
        "pipeline": Part("assumed", "stage times of the scenario, not simulated"),
        "memory": Part(
            "assumed" if scenario.deployment.num_gpu_blocks is None else "measured",
            _pool(scenario),
        ),
    }
    if serving.quote is not None:
        quote = serving.quote
        own = scenario.prices is not None and scenario.prices.list_name is None
        said = f"{quote.source} ({quote.as_of}), {quote.instance}"
        parts["price"] = Part("assumed" if own else "measured", said)
    weight_only = serving.cost.weight_only
    if weight_only:
        what = f"{gpu.name} has no units for {', '.join(weight_only)}"
        parts["quantisation"] = Part("assumed", f"{what}: weight-only, multiplied in 16 bits")
    return parts


def weakest(parts: dict[str, Part]) -> Origin:
    """Return the weakest origin of the parts that make up the times."""
    order: tuple[Origin, ...] = ("assumed", "calibrated", "measured")
    timing = {"kernels", "borrowed kernels", "quantisation", "decoding"}
    origins = {part.origin for name, part in parts.items() if name in timing}
    return next(origin for origin in order if origin in origins)


def _drafter(scenario: Scenario, serving: Serving) -> dict[str, Part]:
    """Return where a drafter's layers and the time around its passes are from."""
    if serving.drafter is None:
        return {}
    said = f"{serving.drafter.model.name}: layers counted from {serving.drafter.model.source}"
    host_s = serving.drafter.host_s_per_pass
    if not host_s:
        return {"drafter": Part("calibrated", f"{said}; no host time around its passes")}
    host = f"{host_s * US_PER_S:g} us of host time around each of its passes"
    table = scenario.decoding.model_dump().get("table")
    where = f"as the table {table} gives it" if table else "as given"
    return {"drafter": Part("assumed", f"{said}; {host}, {where}")}


def _borrowed(serving: Serving) -> dict[str, Part]:
    """Return the kernels of this run that have no fit of their own on this GPU."""
    fitted = serving.fitted
    names = [name for name in serving.cost.fits_used if fitted.origin_of(name) != fitted.origin]
    if not names:
        return {}
    said = f"{', '.join(names)}: no fit for {serving.gpu.name}, universal coefficients stand in"
    return {"borrowed kernels": Part("assumed", said)}


CALIBRATION_LEFT_OUT: Final = "the error of the calibration is not in the intervals"


def not_modelled(scenario: Scenario) -> tuple[str, ...]:
    """Return what a reader might take for granted and is not in the numbers."""
    missing = [
        f"{CALIBRATION_LEFT_OUT}, which hold the sampling error only",
        "prefix caching, priorities, autoscaling and failures",
        "warm-up of a cold replica",
    ]
    if scenario.deployment.replicas > 1:
        missing.append("load-aware routing: replicas are served in turn")
    return (*missing, *scenario.decoding.not_modelled)


def _with_note(source: str, note: str | None) -> str:
    return source if note is None else f"{source}; {note}"


def _pool(scenario: Scenario) -> str:
    if scenario.deployment.num_gpu_blocks is not None:
        return "size of the KV pool as given (num_gpu_blocks)"
    return "KV pool: memory fraction of the GPU less weights and the engine's reserve"


def _decoding(scenario: Scenario) -> Part:
    strategy = scenario.decoding
    return Part("assumed" if strategy.assumed else "measured", strategy.basis)
