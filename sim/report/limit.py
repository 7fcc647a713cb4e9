"""What an overloaded deployment runs into: its places, its KV pool, or its passes."""

from typing import Final

from sim.metrics.places import waits_in_overload
from sim.report.words import count, percent
from sim.run import Outcome

BOUND: Final = {
    "memory": "memory bandwidth",
    "compute": "arithmetic",
    "collective": "communication between GPUs",
    "launch": "the launch of small kernels",
    "host": "the serving engine's host",
}


def limit_label(outcome: Outcome) -> str | None:
    """Return what binds an overloaded deployment; `None` where that is not known."""
    limits, metrics, usage = outcome.serving.limits, outcome.metrics, outcome.usage
    if metrics.front_end_behind:
        return None  # it is named itself
    places = limits.max_sequences * limits.replicas
    waited = waits_in_overload(outcome.simulation, places, metrics.window)
    bound = None if usage is None else f"bound by {BOUND[usage.bound]}"
    each = " of each replica" if limits.replicas > 1 else ""
    peak = percent(metrics.utilisation.kv_peak)
    if waited == "kv":
        return f"the KV pool is the limit ({peak} taken at its peak)"
    if waited is None:
        return bound
    taken = f"all {count(limits.max_sequences)} places{each} (max_sequences) taken"
    if usage is not None and usage.bound == "compute":
        return f"{bound}, with {taken}"  # more places would not make it faster
    if metrics.sustainable_requests_per_s is None:
        return taken  # too short a run to say more
    full = f"all {count(limits.max_sequences)} places{each} taken, the KV pool {peak} at its peak"
    return f"max_sequences is the limit ({full})"
