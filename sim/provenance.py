"""Where each number comes from: measured, calibrated (with its error) or assumed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sim.scenario import Scenario, Serving

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
    used = set(serving.cost.fits_used)
    errors = ", ".join(
        f"{name} {value:.1%}"
        for name, value in fitted.error.items()
        if value is not None and (name in used or "." not in name)
    )
    parts = {
        "model": Part(
            "measured", f"counted from the published architecture: {serving.model.source}"
        ),
        "peaks": Part("measured", f"datasheet: {gpu.memory_bandwidth_bytes_per_s.source}"),
        "kernels": Part(fitted.origin, _with_note(fitted.source, fitted.note), errors or None),
        **_borrowed(serving),
        **_beyond(serving),
        "host": Part(engine.origin, _with_note(engine.source, engine.note)),
        "decoding": _decoding(scenario),
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


def _borrowed(serving: Serving) -> dict[str, Part]:
    """Return the kernels of this run that have no fit of their own on this GPU."""
    fitted = serving.fitted
    names = [name for name in serving.cost.fits_used if fitted.origin_of(name) != fitted.origin]
    if not names:
        return {}
    said = f"{', '.join(names)}: no fit for {serving.gpu.name}, universal coefficients stand in"
    return {"borrowed kernels": Part("assumed", said)}


def _beyond(serving: Serving) -> dict[str, Part]:
    """Return the kernels of this run whose shape was not timed, and those of other engines."""
    beyond, lent = serving.cost.beyond_the_fits, _lent(serving)
    found: dict[str, Part] = {}
    if beyond:
        said = f"the plain form holds for {', '.join(beyond)}: not among the shapes timed"
        found["extrapolated kernels"] = Part("assumed", said)
    if lent:
        found["lent kernels"] = Part("calibrated", f"another engine's stand in: {', '.join(lent)}")
    return found


def _lent(serving: Serving) -> list[str]:
    """Name the fits of this run that were made on the kernels of another engine."""
    fitted, found = serving.fitted, []
    for name in serving.cost.fits_used:
        family, _, key = name.partition(".")
        part = getattr(fitted, family, None)
        fit = part.get(key) if isinstance(part, Mapping) else part
        evidence = getattr(fit, "evidence", None)
        if evidence is not None:
            engine = evidence.kernels.split(" ")[0]
            if engine not in {fitted.engine, "nccl"}:
                found.append(f"{name} of {engine}")
    return found


def not_modelled(scenario: Scenario) -> tuple[str, ...]:
    """Return what a reader might take for granted and is not in the numbers."""
    missing = [
        "the error of the calibration is not in the intervals, which hold the sampling error only",
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
