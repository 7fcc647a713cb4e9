"""From a request's arrival until the engine sees it: prompts are tokenised one after another."""

import numpy as np

from sim.engine.habits import Habits
from sim.records import FloatArray, Traffic


class Ingress:
    """The tokenisers of a run, one a replica; requests are dealt to them in turn.

    Each takes one prompt after the other: vLLM hands prompts to an executor of one thread, SGLang
    tokenises them in the event loop of one process. With service w and arrivals t, prompt k is
    through at max(t_k, end of the one before) + w_k (Lindley's recursion), and the engine sees it
    `ingress_s` later.
    """

    def __init__(self, habits: Habits, replicas: int) -> None:
        self._later_s, self._each_s = habits.ingress_s, habits.ingress_s_per_token
        self._free_s, self._turn = [0.0] * replicas, 0

    def seen_s(self, arrival_s: float, tokens: int) -> float:
        """Return when the engine sees the next request, which has so many tokens."""
        turn, free_s = self._turn, self._free_s
        done_s = max(free_s[turn], arrival_s) + self._each_s * tokens
        free_s[turn], self._turn = done_s, (turn + 1) % len(free_s)
        return done_s + self._later_s

    def all_seen_s(self, traffic: Traffic) -> FloatArray:
        """Return the same for all requests of an open loop.

        None overtakes another of its tokeniser; a short prompt may one of another's.
        """
        if not self._each_s:
            return traffic.arrival_s + self._later_s
        pairs = zip(traffic.arrival_s.tolist(), traffic.input_tokens.tolist(), strict=True)
        return np.array([self.seen_s(*pair) for pair in pairs])
