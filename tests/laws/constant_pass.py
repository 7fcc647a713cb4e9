"""A cost model in which every pass takes the same time: what queueing theory calls a server."""

from typing import Any

from sim.cost import NO_LIMIT, ForwardPass, PassLoad


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
