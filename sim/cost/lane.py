"""The time of a pass over one lane: one attention-data rank's part of one microbatch.

`ForwardPass` splits a batch evenly; here the lane's own load is known, and so are the tokens of
the other ranks that go through the experts with it.
"""

from copy import copy
from math import ceil
from typing import NamedTuple

from sim.cost.attention import NO_LIMIT
from sim.cost.forward_pass import ForwardPass
from sim.cost.layout import Lane
from sim.cost.pass_load import PassLoad

Waits = tuple[float, float]
"""How much longer than the GPU's own time a pass is beside the host, s, and its growth a pass."""
NO_WAIT: Waits = 0.0, 0.0


class StageLoad(NamedTuple):
    """What of a pass decides how it is spread over the stages."""

    sequences: int
    logits: float
    tokens: int
    prompts: int


class LanePass(ForwardPass):
    """Price passes of single lanes; shares what a `ForwardPass` has worked out and remembers."""

    def __init__(self, cost: ForwardPass) -> None:
        self.__dict__.update(cost.__dict__)
        self.simple, self._lanes = False, max(2, self.layout.lanes)  # never the way of one lane
        self._others = [0]
        self._gpu_side = copy(self)  # sees the same others
        self._gpu_side.host_beside = None
        self.waits = NO_WAIT
        """Of the pass that was noted last."""
        layers, stages = self.model.num_layers, self.layout.pipeline
        self.stages = stages
        self.stage_share = ceil(layers / stages) / layers
        """Share of the layers on the longest stage."""

    @property
    def other_tokens(self) -> int:
        """Tokens of the other ranks in the same pass, which the experts see too."""
        return self._others[0]

    @other_tokens.setter
    def other_tokens(self, tokens: int) -> None:
        self._others[0] = tokens

    def _lane(
        self, sequences: int, positions: int, logits: float, prompts: int, prompt_tokens: int
    ) -> Lane:
        """Return the load as it is: nothing is split."""
        tokens = positions + prompt_tokens
        return Lane(
            tokens=tokens,
            sequences=sequences + prompts,
            decoding=sequences,
            logits=logits,
            decode=1.0,
            prefill=1.0,
            stage_tokens=tokens + self._others[0],
        )

    def line(
        self,
        sequences: int,
        positions: int,
        logit_positions: float,
        growths: tuple[tuple[float, float, float, float], ...],
    ) -> tuple[float, float, int]:
        """Return the line of `ForwardPass.line`; note how far the GPU is below it in `waits`."""
        if self.host_beside is None:
            return super().line(sequences, positions, logit_positions, growths)
        side = self._gpu_side.line(sequences, positions, logit_positions, growths)
        found = self.host_beside.line(side, sequences, positions)
        wait_s = self.host_beside.sides(sequences, positions, 0)[0] - side[0]
        self.waits = (wait_s, -side[1]) if wait_s > 0.0 else NO_WAIT
        return found

    def note_waits(self, load: PassLoad) -> None:
        """Note in `waits` how much longer than the GPU's own time a pass takes beside the host."""
        self.waits = NO_WAIT
        if self.stages == 1 or self.host_beside is None:
            return
        held = load.sequences + load.prefill_sequences, load.positions + load.prefill_tokens
        beside_s, _ = self.host_beside.sides(*held, load.prefill_sequences)
        if beside_s > 0.0:
            self.waits = max(0.0, beside_s - self._gpu_side.pass_s(load)), 0.0

    def stage(
        self, pass_s: float, slope_s: float, load: StageLoad, waits: Waits = NO_WAIT
    ) -> tuple[float, float, int]:
        """Return the time of a pass on its slowest stage [s], its growth, and for how many passes.

        The pass takes `pass_s` through all stages and each later one `slope_s` more, of which the
        GPU waits for `waits`. The longest stage has ceil(layers / stages) of the layers; the first
        one has the host's work too, the last one the LM head. Each stage starts the kernels of its
        own layers, while the GPU works; it takes as long as the longer of the two.
        """
        if self.stages == 1:
            return pass_s, slope_s, NO_LIMIT
        held = load.sequences, load.tokens, load.prompts
        host_s, (wait_s, wait_slope_s) = self.host.seconds(*held), waits
        head_s, share = self.dense.logits_s(load.logits), self.stage_share
        if self.host.asynchronous:
            gpu_s = (pass_s - wait_s - head_s) * share + head_s
        else:
            gpu_s = (pass_s - wait_s - host_s - head_s) * share + max(host_s, head_s)
        slope_s = (slope_s - wait_slope_s) * share
        host_s += self.host.launching_s(*held) * share
        if gpu_s >= host_s:
            return gpu_s, slope_s, NO_LIMIT
        limit = NO_LIMIT if slope_s <= 0 else max(1, ceil((host_s - gpu_s) / slope_s))
        return host_s, 0.0, limit


def lane_pass(cost: ForwardPass) -> LanePass:
    """Return the pricing of single lanes of the same machine."""
    return cost if isinstance(cost, LanePass) else LanePass(cost)
