"""The work of the front ends over a run, as they wrote it down."""

import numpy as np

from sim.engine.log import Log
from sim.records import FrontEnd, Leaps


def front_end_of(log: Log, leaps: Leaps) -> FrontEnd | None:
    """Return the work that was left whenever passes began; `None` where no front end has a rate.

    `leaps` are those that the log gave, by whose numbers its rows go.
    """
    if not log.habits.delays:
        return None
    table = np.frombuffer(log.habits.delays).reshape(-1, 4)
    numbers = log.habits.numbers[table[:, 0].astype(np.int64)]
    ended = numbers >= 0
    leap, (left_s, each_s, prompts_s) = numbers[ended], table[ended, 1:].T
    return FrontEnd(
        replica=leaps.replica[leap],
        time_s=leaps.start_s[leap],
        left_s=left_s.copy(),
        work_s=leaps.passes[leap] * each_s + prompts_s,
    )
