"""What is asked of a deployment, in a few words; and what of it was too much."""

from typing import Final

import numpy as np

from sim.report.course import part_of_course, time_label
from sim.report.words import count, significant
from sim.run import Outcome
from sim.scenario import Scenario
from sim.workload import Bursts, ClosedLoop, Varying, Windows

_OFF: Final = 0.1
"""Share by which the rate of a run is off the mean of its course before it is the one said."""


def load_label(scenario: Scenario) -> str:
    """Return what is asked of a deployment."""
    arrivals, rate = scenario.workload.arrivals, scenario.workload.offered_requests_per_s
    if isinstance(arrivals, ClosedLoop):
        return f"{count(arrivals.users)} {'user' if arrivals.users == 1 else 'users at once'}"
    if rate is None:
        return "this trace"
    mean = " on average" if isinstance(arrivals, Varying | Windows) else ""
    return f"{significant(rate)} requests/s{mean}"


def run_load_label(outcome: Outcome) -> str:
    """Return what was asked in the run: never the mean of a course that was not run."""
    arrivals, part = outcome.scenario.workload.arrivals, part_of_course(outcome)
    if part is not None:
        return part.load
    asked, offered = load_label(outcome.scenario), outcome.metrics.throughput
    rate = offered.offered_requests_per_s
    if not isinstance(arrivals, Varying | Windows) or rate is None:
        return asked
    if abs(rate / arrivals.mean_requests_per_s - 1) <= _OFF:
        return asked
    return f"{significant(rate)} requests/s on average over the run"


def too_much_label(outcome: Outcome) -> str:
    """Return the load of an overloaded deployment; of a rate that varies, when it is too high.

    That is the stretch in which most requests arrive beyond what is sustained (or beyond the mean
    rate, where that is not known).
    """
    arrivals, mean = outcome.scenario.workload.arrivals, run_load_label(outcome)
    if not isinstance(arrivals, Varying | Windows):
        return mean
    borne = outcome.metrics.sustainable_requests_per_s or arrivals.mean_requests_per_s
    measured = outcome.simulation.records.arrival_s[: outcome.simulation.measured]
    last_s = float(np.nanmax(measured))
    worst = arrivals.curve().worst_above(borne, last_s)
    if worst is None:
        return mean
    peak = f"{significant(worst.peak_requests_per_s)} requests/s"
    if isinstance(arrivals, Bursts) and arrivals.random:  # they come at times of their own
        return f"bursts of {peak} ({mean})"
    until = "on" if worst.to_s >= last_s else f"to {time_label(worst.to_s)}"
    if worst.from_s == 0 and until == "on":
        return f"up to {peak} ({mean})"
    return f"up to {peak} from {time_label(worst.from_s)} {until} ({mean})"
