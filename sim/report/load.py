"""What is asked of a deployment, in a few words; and what of it was too much."""

from typing import Final

import numpy as np

from sim.report.words import count, significant
from sim.run import Outcome
from sim.scenario import Scenario
from sim.units import SECONDS_PER_HOUR
from sim.workload import Bursts, ClosedLoop, Varying, Windows

_HOURS_FROM_S: Final = 2 * SECONDS_PER_HOUR
"""Times from here on are said in hours."""


def load_label(scenario: Scenario) -> str:
    """Return what is asked of a deployment."""
    arrivals, rate = scenario.workload.arrivals, scenario.workload.offered_requests_per_s
    if isinstance(arrivals, ClosedLoop):
        return f"{count(arrivals.users)} {'user' if arrivals.users == 1 else 'users at once'}"
    if rate is None:
        return "this trace"
    mean = " on average" if isinstance(arrivals, Varying | Windows) else ""
    return f"{significant(rate)} requests/s{mean}"


def too_much_label(outcome: Outcome) -> str:
    """Return the load of an overloaded deployment; of a rate that varies, when it is too high.

    That is the stretch in which most requests arrive beyond what is sustained (or beyond the mean
    rate, where that is not known).
    """
    arrivals, mean = outcome.scenario.workload.arrivals, load_label(outcome.scenario)
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
    until = "on" if worst.to_s >= last_s else f"to {_time(worst.to_s)}"
    if worst.from_s == 0 and until == "on":
        return f"up to {peak} ({mean})"
    return f"up to {peak} from {_time(worst.from_s)} {until} ({mean})"


def _time(time_s: float) -> str:
    """Return a time since the run began.

    >>> _time(90.4), _time(45_000.0)
    ('90 s', '12.5 h')
    """
    if time_s < _HOURS_FROM_S:
        return f"{time_s:.0f} s"
    return f"{time_s / SECONDS_PER_HOUR:.1f} h"
