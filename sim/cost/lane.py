"""The time of a pass over one lane: one attention-data rank's part of one microbatch.

`ForwardPass` splits a batch evenly; here the lane's own load is known, and so are the tokens of
the other ranks that go through the experts with it.
"""

from math import ceil

from sim.cost.attention import NO_LIMIT
from sim.cost.forward_pass import ForwardPass
from sim.cost.layout import Lane


class LanePass(ForwardPass):
    """Price passes of single lanes; shares what a `ForwardPass` has worked out and remembers."""

    def __init__(self, cost: ForwardPass) -> None:
        self.__dict__.update(cost.__dict__)
        self._only, self._lanes = None, max(2, self.layout.lanes)  # never the way of one lane
        self.other_tokens = 0
        """Tokens of the other ranks in the same pass, which the experts see too."""
        layers, stages = self.model.num_layers, self.layout.pipeline
        self.stages = stages
        self.stage_share = ceil(layers / stages) / layers
        """Share of the layers on the longest stage."""

    def _lane(
        self, sequences: int, positions: int, logits: float, prompts: int, prompt_tokens: int
    ) -> Lane:
        """Return the load as it is: nothing is split."""
        tokens = positions + prompt_tokens
        return Lane(
            tokens=tokens,
            sequences=sequences + prompts,
            logits=logits,
            decode=1.0,
            prefill=1.0,
            stage_tokens=tokens + self.other_tokens,
        )

    def line(
        self,
        sequences: int,
        positions: int,
        logit_positions: float,
        growths: tuple[tuple[float, float, float, float], ...],
    ) -> tuple[float, float, int]:
        """Return the time of a decode pass [s], by how much each later one grows, for how many."""
        capped = tuple((read, pairs) for read, pairs, _, _ in growths[1:])
        read, pairs = growths[0][:2]
        first_s = self.seconds(sequences, positions, logit_positions, read, pairs, capped=capped)
        total, limit = 0.0, NO_LIMIT
        for index, rates in self._decode:
            _, slope, most = rates.line(*growths[index + 1])
            total += slope
            limit = min(limit, most)
        return first_s, total, limit

    def stage_s(self, pass_s: float, sequences: int, logits: float) -> float:
        """Return the time of the slowest stage of a pass that takes `pass_s` through all, s.

        The longest stage has ceil(layers / stages) of the layers; the first one has the host's
        work too, the last one the LM head.
        """
        if self.stages == 1:
            return pass_s
        host_s, head_s = self.host_s(sequences), self.dense.logits_s(logits)
        return (pass_s - host_s - head_s) * self.stage_share + max(host_s, head_s)


def lane_pass(cost: ForwardPass) -> LanePass:
    """Return the pricing of single lanes of the same machine."""
    return cost if isinstance(cost, LanePass) else LanePass(cost)
