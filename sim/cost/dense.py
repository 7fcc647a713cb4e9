"""Times of all that depends on the tokens and sequences of a pass and not on their context."""

from sim.cost.expert_shapes import ExpertShape
from sim.cost.experts import Routing
from sim.cost.forms import experts_s
from sim.cost.layers import Layers
from sim.cost.layout import Layout
from sim.cost.operation import Operation
from sim.cost.plain import Plain
from sim.cost.residuals import Curve, shapes_of
from sim.cost.work import ACTIVATION_BYTES
from sim.hardware import ExpertsFit, FittedProfile, GpuProfile
from sim.model import Experts, Model, Recurrent

STATE_BYTES = 4.0
"""Engines keep recurrent states in fp32 (mamba_ssm, flash-linear-attention)."""
_MOST_REMEMBERED = 1 << 18
_MOST_LINES = 1 << 12
_BLOCK = 256


class Dense:
    """One rank's layers without attention, and the LM head; pure, the tables only remember."""

    def __init__(
        self,
        model: Model,
        gpu: GpuProfile,
        fitted: FittedProfile,
        layout: Layout,
        layers: Layers,
        *,
        expert_skew: float,
    ) -> None:
        self.model, self.gpu, self.fitted = model, gpu, fitted
        self.layout, self.layers, self.expert_skew = layout, layers, expert_skew
        self.plain = Plain(model, gpu, fitted, layout, layers)
        self._shapes: dict[Experts, Curve | None] = {}
        self._tables: dict[int, list[float]] = {}
        self._logits: dict[float, float] = {}
        self._routed: dict[int, float] = {}
        """Times of all experts by the tokens that they see, s."""
        self._regular: dict[int, list[Operation]] = {}
        self._heads: dict[float, list[Operation]] = {}
        """Lines of a pass that have come up: by its tokens, and by its logits."""

    def seconds(
        self, tokens: int, logit_positions: float, sequences: int, seen: int | None = None
    ) -> float:
        """Return the time of one lane of `tokens` tokens of `sequences`, with its logits, s.

        The experts see `seen` tokens: those of all lanes of their stage; None: just these.
        """
        if not tokens:
            return self.logits_s(logit_positions)
        block, place = divmod(tokens, _BLOCK)
        table = self._tables.get(block)
        if table is None:
            first = max(1, block * _BLOCK)
            rest = self.plain.table(first, (block + 1) * _BLOCK)
            table = self._tables[block] = [0.0] * (_BLOCK - len(rest)) + rest
        others_s = self._irregular_s(tokens, sequences, tokens if seen is None else seen)
        return table[place] + others_s + self.logits_s(logit_positions)

    def _irregular_s(self, tokens: int, sequences: int, seen: int) -> float:
        """Return the time of the experts, which is remembered, and of recurrent states, s."""
        total_s = 0.0
        if self.layers.experts:
            known = self._routed.get(seen)
            if known is None:
                known = sum(operation.total_s for operation in self._all_experts(seen))
                if len(self._routed) < _MOST_REMEMBERED:
                    self._routed[seen] = known
            total_s = known
        for operation in self._states(tokens, sequences):
            total_s += operation.total_s
        return total_s

    def logits_s(self, positions: float) -> float:
        """Return the time of the LM head over `positions`, s."""
        known = self._logits.get(positions)
        if known is None:
            known = sum(operation.total_s for operation in self.logits(positions))
            if len(self._logits) < _MOST_REMEMBERED:  # fractional positions hardly repeat
                self._logits[positions] = known
        return known

    def operations(self, tokens: int, sequences: int, seen: int | None = None) -> list[Operation]:
        """Return the layers without attention for one lane of `tokens` tokens of `sequences`."""
        if not tokens:
            return []
        regular = self._regular.get(tokens)
        if regular is None:
            regular = [timed.operation() for timed in self.plain.timed(float(tokens))]
            if len(self._regular) < _MOST_LINES:
                self._regular[tokens] = regular
        experts = self._all_experts(tokens if seen is None else seen)
        return regular + experts + self._states(tokens, sequences)

    def logits(self, positions: float) -> list[Operation]:
        """Return the LM head, in 16 bits."""
        if not positions:
            return []
        known = self._heads.get(positions)
        if known is None:
            known = [self.plain.gemm(self.layers.head, positions, 1).operation()]
            if len(self._heads) < _MOST_LINES:
                self._heads[positions] = known
        return known

    def _all_experts(self, seen: int) -> list[Operation]:
        return [self._experts(mlp, seen, count) for mlp, count in self.layers.experts]

    def _states(self, tokens: int, sequences: int) -> list[Operation]:
        return [
            self._recurrence(mixer, tokens, sequences, count)
            for mixer, count in self.layers.recurrent
        ]

    def _experts(self, mlp: Experts, seen: int, count: int) -> Operation:
        """Grouped products of the routed experts on the rank that is last.

        The experts it hits are read once; its FLOP are those of its share of the choices.
        """
        layout, stored = self.layout, self.layers.expert_format
        fit = self.fitted.experts[stored.stored]
        routing = Routing(mlp.experts, mlp.active, layout.expert, self.expert_skew)
        one = mlp.expert_elements(self.model.hidden_size) / layout.expert_tensor
        choices = seen * mlp.active / layout.expert * routing.busiest_share(seen)
        width = mlp.latent_size or self.model.hidden_size
        moved = routing.busiest_hits(seen) * one * stored.weight_bytes
        passing = choices * width * (stored.input_bytes + ACTIVATION_BYTES)
        moved += passing
        flop, peak = 2.0 * choices * one, self.plain.peak(fit.computed or stored.computed)
        bandwidth = self.gpu.memory_bandwidth_bytes_per_s.value
        seconds = float(
            experts_s(fit, flop=flop, bytes_moved=moved, flop_per_s=peak, bytes_per_s=bandwidth)
        )
        curve = self._curve_of(mlp, fit)
        if curve is not None:
            floor_s = max(flop / peak, moved / bandwidth)
            seconds = max(seconds * float(curve.factor(float(seen))), floor_s)
        return Operation(
            "routed experts",
            count,
            seconds,
            flop=flop,
            bytes_moved=moved,
            activation_bytes=passing,
            fixed_s=fit.fixed_s,
            memory_s=moved / (fit.bandwidth_efficiency * bandwidth),
            compute_s=flop / (fit.flop_efficiency * peak),
            peak_flop_per_s=peak,
        )

    def expert_shape(self, mlp: Experts) -> ExpertShape:
        """Return routed experts as one rank holds them."""
        return ExpertShape(
            hidden=mlp.latent_size or self.model.hidden_size,
            intermediate=mlp.intermediate_size / self.layout.expert_tensor,
            experts=mlp.experts / self.layout.expert,
            active=mlp.active,
            expert_parallel=self.layout.expert,
            matrices=3.0 if mlp.gated else 2.0,
        )

    def _curve_of(self, mlp: Experts, fit: ExpertsFit) -> Curve | None:
        """Return the residuals of one kind of experts over the tokens; remembered."""
        if fit.residual is None:
            return None
        if mlp not in self._shapes:
            table = shapes_of(fit.residual)
            self._shapes[mlp] = table.curve(self.expert_shape(mlp))
        return self._shapes[mlp]

    def _recurrence(self, mixer: Recurrent, tokens: int, sequences: int, count: int) -> Operation:
        """Read and write the state of each sequence, and update it with each token."""
        ranks, fit = self.layout.tensor, self.fitted.recurrent
        moved = 2.0 * STATE_BYTES * mixer.sequence_elements * sequences / ranks
        flop, peak = mixer.flop_per_token * tokens / ranks, self.plain.peak("bf16")
        bandwidth = self.gpu.memory_bandwidth_bytes_per_s.value
        memory_s = moved / (fit.bandwidth_efficiency * bandwidth)
        compute_s = flop / (fit.flop_efficiency * peak)
        return Operation(
            "recurrent state",
            count,
            fit.fixed_s + max(memory_s, compute_s),
            flop=flop,
            bytes_moved=moved,
            fixed_s=fit.fixed_s,
            memory_s=memory_s,
            compute_s=compute_s,
            peak_flop_per_s=peak,
        )
