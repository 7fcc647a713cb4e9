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

    def stage(self, pass_s: float, slope_s: float, load: StageLoad) -> tuple[float, float, int]:
        """Return the time of a pass on its slowest stage [s], its growth, and for how many passes.

        The pass takes `pass_s` through all stages and each later one `slope_s` more. The longest
        stage has ceil(layers / stages) of the layers; the first one has the host's work too, the
        last one the LM head. A host that works beside the GPU limits the stage instead. Each stage
        starts the kernels of its own layers.
        """
        if self.stages == 1:
            return pass_s, slope_s, NO_LIMIT
        held = load.sequences, load.tokens, load.prompts
        host_s = self.host.seconds(*held)
        head_s, share = self.dense.logits_s(load.logits), self.stage_share
        if not self.host.asynchronous:
            layers_s = pass_s - host_s - head_s
            return layers_s * share + max(host_s, head_s), slope_s * share, NO_LIMIT
        host_s += self.host.launching_s(*held) * share
        gpu_s, slope_s = (pass_s - head_s) * share + head_s, slope_s * share
        if gpu_s >= host_s:
            return gpu_s, slope_s, NO_LIMIT
        limit = NO_LIMIT if slope_s <= 0 else max(1, ceil((host_s - gpu_s) / slope_s))
        return host_s, 0.0, limit


def lane_pass(cost: ForwardPass) -> LanePass:
    """Return the pricing of single lanes of the same machine."""
    return cost if isinstance(cost, LanePass) else LanePass(cost)
