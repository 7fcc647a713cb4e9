"""A cost model in which every pass takes the same time: what queueing theory calls a server."""

from sim.cost import NO_LIMIT, ForwardPass, PassLoad


class ConstantPass(ForwardPass):
    """Every pass takes `constant_s`, whatever it holds."""

    def __init__(self, constant_s: float) -> None:
        self.constant_s = constant_s

    def pass_s(self, load: PassLoad) -> float:
        return self.constant_s

    def seconds(self, *load: float) -> float:
        return self.constant_s

    def slope(self, *batch: float) -> tuple[float, int]:
        return 0.0, NO_LIMIT
