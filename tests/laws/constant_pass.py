"""A cost model in which every pass takes the same time: what queueing theory calls a server."""

from typing import Any

from sim.cost import NO_LIMIT, ForwardPass, PassLoad
from sim.cost.lane import NO_WAIT, LanePass


class ConstantPass(ForwardPass):
    """Every pass takes `constant_s`, whatever it holds."""

    def __init__(self, constant_s: float) -> None:
        self.constant_s, self.reaches = constant_s, ()

    def pass_s(self, load: PassLoad) -> float:
        return self.constant_s

    def seconds(self, *_load: Any, **_capped: Any) -> float:
        return self.constant_s

    def line(self, *_batch: Any) -> tuple[float, float, int]:
        return self.constant_s, 0.0, NO_LIMIT


class ConstantLanes(LanePass):
    """Lanes whose pass takes the same time, or one that grows with its sequences; even stages."""

    def __init__(self, constant_s: float, stages: int, sequence_s: float = 0.0) -> None:
        self.constant_s, self.sequence_s, self.reaches = constant_s, sequence_s, ()
        self.stages, self.stage_share, self._others = stages, 1 / stages, [0]
        self.waits = NO_WAIT

    def seconds(self, sequences: int, *load: Any, **_capped: Any) -> float:
        prompts = load[4] if len(load) > 4 else 0
        return self.constant_s + self.sequence_s * (sequences + prompts)

    def line(self, sequences: int, *_batch: Any) -> tuple[float, float, int]:
        return self.seconds(sequences), 0.0, NO_LIMIT

    def note_waits(self, load: PassLoad) -> None:
        """There is no host to wait for."""

    def stage(
        self, pass_s: float, slope_s: float, load: Any, waits: Any = NO_WAIT
    ) -> tuple[float, float, int]:
        return pass_s / self.stages, slope_s / self.stages, NO_LIMIT
