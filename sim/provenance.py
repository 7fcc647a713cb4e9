"""Where each number comes from: measured, calibrated (with its error) or assumed."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from sim.hardware import FittedProfile
from sim.hardware.engine import EngineProfile, HabitOrigin
from sim.hardware.engine import weakest as weakest_habit
from sim.scenario import Scenario, Serving
from sim.units import US_PER_S, counted
from sim.workload.varying import Varying
from sim.workload.windows import Windows

_HOST = frozenset({"memory_reserve_gb", "host_us_per_pass", "host_us_per_sequence"})
"""Settings that the part `host` speaks for."""
_SERVING_ERRORS: Final = {
    "tpot_left_out_mean_ape": "TPOT of serving runs of models left out of the fit (held out)",
    "tpot_mean_ape": "TPOT of the serving runs that the engine's times were chosen on",
    "tpot_median_ape": "median TPOT of the serving runs that the engine's times were chosen on",
}
"""What errors of serving runs are, for people: only the first is a held-out one."""
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
    mine = frozenset[str]() if fitted.own is None else fitted.own.parts
    errors = _errors(
        fitted, [name for name in fitted.error if "." not in name or name in used], besides=mine
    )
    parts = {
        "model": Part(
            "measured", f"counted from the published architecture: {serving.model.source}"
        ),
        "peaks": Part("measured", f"datasheet: {gpu.memory_bandwidth_bytes_per_s.source}"),
        "kernels": Part(fitted.origin, _with_note(fitted.source, fitted.note), errors),
        **_own(serving),
        **_borrowed(serving),
        **_beyond(serving),
        "host": Part(engine.origin, _with_note(engine.source, engine.note)),
        **_habits(serving),
        "decoding": _decoding(scenario),
        **_drafter(scenario, serving),
        "workload": Part("assumed", scenario.workload.describe()),
        "pipeline": Part("assumed", "stage times of the scenario, not simulated"),
        "memory": Part(
            "assumed" if scenario.deployment.num_gpu_blocks is None else "measured",
            _pool(scenario, serving.engine),
        ),
    }
    if serving.quote is not None:
        quote = serving.quote
        own = scenario.prices is not None and scenario.prices.list_name is None
        rented = "" if own else f", rented by {counted(quote.gpus_per_instance, 'GPU')}"
        said = f"{quote.source} ({quote.as_of}), {quote.instance}{rented}"
        parts["price"] = Part("assumed" if own else "measured", said)
    if scenario.deployment.prefix_cache and not serving.limits.prefix_cache:
        why = "the KV of a prompt is not to be had apart from what follows it, or from a state"
        parts["prefix cache"] = Part("assumed", f"off: {why}")
    weight_only = serving.cost.weight_only
    if weight_only:
        what = f"{gpu.name} has no units for {', '.join(weight_only)}"
        parts["quantisation"] = Part("assumed", f"{what}: weight-only, multiplied in 16 bits")
    return parts


def weakest(parts: dict[str, Part]) -> Origin:
    """Return the weakest origin of the parts that make up the times."""
    order: tuple[Origin, ...] = ("assumed", "calibrated", "measured")
    timing = {"kernels", "own kernels", "borrowed kernels", "quantisation", "decoding"}
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
    names = [name for name in serving.cost.fits_used if name in fitted.borrowed]
    if not names or fitted.origin == "assumed":
        return {}
    said = f"{', '.join(names)}: no fit for {serving.gpu.name}, universal coefficients stand in"
    return {"borrowed kernels": Part("assumed", said)}


def _own(serving: Serving) -> dict[str, Part]:
    """Return the kernels that a fit of the user's own laid over the shipped one."""
    fitted = serving.fitted
    if fitted.own is None:
        return {}
    own = fitted.own
    used = [name for name in serving.cost.fits_used if name in own.parts]
    held = f"no part of it is in this run: it holds {', '.join(sorted(own.parts))}"
    which = f"{', '.join(used)}, as of {own.engine}" if used else held
    said = _with_note(f"{which}: {own.source} ({own.as_of})", own.note)
    return {"own kernels": Part(own.origin, said, _errors(fitted, used))}


def _errors(
    fitted: FittedProfile, names: Iterable[str], besides: Collection[str] = ()
) -> str | None:
    """Return the stated errors of some parts in words; None: there is none."""
    known = {name: fitted.error.get(name) for name in names if name not in besides}
    said = ", ".join(
        f"{_SERVING_ERRORS.get(name, name)} {value:.1%}"
        for name, value in known.items()
        if value is not None
    )
    return said or None


CALIBRATION_LEFT_OUT: Final = "the error of the calibration is not in the intervals"


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
    own = frozenset[str]() if fitted.own is None else fitted.own.parts
    for name in serving.cost.fits_used:
        if name in own:
            continue
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
        f"{CALIBRATION_LEFT_OUT}, which hold the sampling error only",
        "autoscaling and failures",
        "warm-up of a cold replica",
    ]
    missing += _part_of_the_course(scenario)
    if scenario.deployment.replicas > 1 and scenario.deployment.router.foreseeable:
        missing.append("replicas are served in turn, whatever their load (`deployment.router`)")
    urgencies = {one.priority for one in scenario.workload.classes or ()}
    ordered = scenario.scheduler is not None and scenario.scheduler.order == "priority"
    if len(urgencies) > 1 and not ordered:
        missing.append(
            "priorities of the classes: requests are served as they come (`scheduler.order`)"
        )
    return (*missing, *scenario.decoding.not_modelled)


def _part_of_the_course(scenario: Scenario) -> list[str]:
    """Say where a run ends before the rate of its arrivals has run its course."""
    arrivals, requests = scenario.workload.arrivals, scenario.run.requests
    if not isinstance(arrivals, Varying | Windows):
        return []
    curve = arrivals.curve()
    if requests >= curve.requests:
        return []
    share, lasting_s = requests / curve.requests, curve.period_s
    said = (
        f"the whole course of the rate, {lasting_s:,.0f} s: the run is only its beginning, the"
        f" first {requests:,} of about {curve.requests:,.0f} requests ({share:.1%}), whose rate"
        " need not be the mean; raise `run.requests`"
    )
    return [said]


def _with_note(source: str, note: str | None) -> str:
    return source if note is None else f"{source}; {note}"


def _pool(scenario: Scenario, engine: EngineProfile) -> str:
    if scenario.deployment.num_gpu_blocks is not None:
        return "size of the KV pool as given (num_gpu_blocks)"
    if engine.memory_rule == "share_of_free":
        return "KV pool: a fraction of what weights and the engine's reserve leave of the GPU"
    return "KV pool: memory fraction of the GPU less weights and the engine's reserve"


def _habits(serving: Serving) -> dict[str, Part]:
    """Return who told the settings of the engine, the weakest of them deciding."""
    told = [row for row in serving.engine.told_by if row[0] not in _HOST]
    if not told:
        return {}
    by_origin: dict[HabitOrigin, list[str]] = {}
    for name, origin, _ in told:
        by_origin.setdefault(origin, []).append(name)
    said = "; ".join(f"{origin}: {', '.join(by_origin[origin])}" for origin in sorted(by_origin))
    weak = weakest_habit(tuple(by_origin))
    return {"engine": Part("measured" if weak == "documented" else weak, said)}


def _decoding(scenario: Scenario) -> Part:
    strategy = scenario.decoding
    return Part("assumed" if strategy.assumed else "measured", strategy.basis)
