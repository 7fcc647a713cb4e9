"""How many runs an answer rests on, and how precise they made it, in words."""

from sim.planning.precision import FIRST_RUNS
from sim.report.words import percent
from sim.run import Outcome


def seeds_label(outcome: Outcome) -> str:
    """Return the seed, or how many there were."""
    done = outcome.replications
    if done is None or done.runs == 1:
        return f"seed {outcome.scenario.run.seed}"
    return f"{done.runs} seeds from {done.first_seed} on"


def warmup_of_all(outcome: Outcome) -> int:
    """Return how many requests of all runs together were cut off as warm-up."""
    done = outcome.replications
    runs = 1 if done is None else done.runs
    return runs * outcome.simulation.measured - outcome.metrics.requests.offered


def precision_sentence(outcome: Outcome) -> str | None:
    """Return what was asked of a figure's precision and what became of it; `None`: nothing."""
    found = None if outcome.replications is None else outcome.replications.precision
    if found is None or outcome.replications is None:
        return None
    runs = outcome.replications.runs
    runs_label = f"{runs} run" if runs == 1 else f"{runs} runs"
    asked = f"{found.metric} within ±{percent(found.asked)}"
    if found.half_width is None:
        return f"{asked}: not known after {runs_label}, it has no interval"
    few = runs < FIRST_RUNS and runs > 1
    if found.met:
        chance = f" (fewer than {FIRST_RUNS} may agree by chance)" if few else ""
        return f"{asked}: ±{percent(found.half_width)} after {runs_label}{chance}"
    why = "allow more with --seeds"
    if outcome.replications.stopped_of is not None:
        why = "interrupted"
    elif runs == 1:
        why = "a trace happened once"
    return f"{asked}: not reached, ±{percent(found.half_width)} after {runs_label} ({why})"
