"""The time of one pass of the served model over one batch."""

from collections.abc import Iterable
from copy import copy

from sim.cost.attention import NO_LIMIT, Attention, Rates, decode_rates, decode_s
from sim.cost.dense import Dense
from sim.cost.fits_range import beyond_the_fits
from sim.cost.fits_used import fits_used
from sim.cost.host import HostTime, Size, on_graphs, padded
from sim.cost.launches import launches_of
from sim.cost.layers import layers_of
from sim.cost.layout import Lane, Layout, fullest_lane
from sim.cost.operation import Operation
from sim.cost.pass_load import PassLoad, Reads
from sim.cost.prefill import Prefill, prefill_s
from sim.deployment import Deployment
from sim.hardware import EngineProfile, FittedProfile, GpuProfile
from sim.model import Model

_MOST_REMEMBERED = 1 << 18


class ForwardPass:
    """Price passes of one model on one replica; pure, the caches only remember results.

    The arguments are those of a checked scenario: `deployment.tensor_parallel` divides the heads.
    """

    def __init__(
        self,
        model: Model,
        gpu: GpuProfile,
        fitted: FittedProfile,
        engine: EngineProfile,
        deployment: Deployment,
        *,
        reaches: Iterable[int] = (),
    ) -> None:
        """Price `model`; `reaches` are those of other models that run on the same batch."""
        self.model, self.gpu, self.fitted, self.engine = model, gpu, fitted, engine
        self.deployment, self.layout = deployment, Layout.of(deployment)
        self.layers = layers_of(model, gpu, deployment)
        self.dense = Dense(
            *(model, gpu, fitted, self.layout, self.layers), expert_skew=deployment.expert_skew
        )
        kinds, kv = self.layers.attention, deployment.kv_precision
        self.reaches = tuple(
            sorted({kind.reach for kind in kinds if kind.reach is not None}.union(reaches))
        )
        """Distances beyond which some layers do not look back, tokens."""
        self._decode: dict[int, list[tuple[int, Rates]]] = {}
        """By sequences of a lane: each kind of attention, with its place in `reaches`."""
        self.prompt_kinds = [(self._index(kind), Prefill(kind, gpu, fitted, kv)) for kind in kinds]
        self._lanes, self.stateful = self.layout.lanes, bool(self.layers.recurrent)
        self.simple = len(kinds) == 1 and not self.reaches and self._lanes == 1
        """Whether there is one kind of attention that needs no sorting out."""
        self.compute_precision = self.layers.compute_precision
        """Format in which most weights are multiplied."""
        self.weight_only = self.layers.weight_only
        """Stored formats that save bytes only: the GPU multiplies them in 16 bits."""
        quantises = engine.quantise_s_per_product > 0.0
        self.launches = launches_of(self.layers, self.layout, quantises=quantises)
        """Kernels that the host starts in a pass that no graph holds."""
        self.host, self._graphs = HostTime.of(engine, self.launches), engine.graph_batch_sizes
        self.host_beside = None if self.host.plain else self.host
        """Host time that is more than a constant on top; None in the simple case."""
        self.prompt_factor = engine.expert_prompt_factor if self.layers.experts else 1.0
        self._host_pass_s = self.host.pass_s if self.host_beside is None else 0.0
        self._host_sequence_s = self.host.sequence_s if self.host_beside is None else 0.0
        self._by_size: dict[Size, float] = {}
        self._gpu_side = copy(self)
        """The same without the host where `host_beside` adds it."""
        self._gpu_side.host_beside = None

    @property
    def fits_used(self) -> tuple[str, ...]:
        """Parts of the fitted profile that a pass goes by, by their dotted names."""
        return fits_used(self.layers, self.layout, self.gpu, self.deployment.kv_precision)

    @property
    def beyond_the_fits(self) -> tuple[str, ...]:
        """Parts whose shape was not timed: the plain form holds there."""
        facts = self.layers, self.layout, self.gpu, self.fitted, self.deployment
        return beyond_the_fits(*facts)

    def decode_rates(self, sequences: int) -> tuple[Rates, ...]:
        """Return what each kind of attention costs in a lane of so many decoding sequences."""
        return tuple(rates for _, rates in self._decode_at(sequences))

    def _decode_at(self, sequences: int) -> list[tuple[int, Rates]]:
        known = self._decode.get(sequences)
        if known is None:
            facts = self.gpu, self.fitted, self.deployment.kv_precision
            known = self._decode[sequences] = [
                (self._index(kind), decode_rates(kind, *facts, sequences))
                for kind in self.layers.attention
            ]
        return known

    def _index(self, kind: Attention) -> int:
        """Place of the kind's reach in `reaches`; -1 where it looks back all the way."""
        return -1 if kind.reach is None else self.reaches.index(kind.reach)

    def pass_s(self, load: PassLoad) -> float:
        """Return the time of one pass, s."""
        return self.seconds(*load)

    def seconds(  # noqa: PLR0917  # called per pass: positional is faster
        self,
        sequences: int,
        positions: int,
        logit_positions: float,
        context_tokens: float,
        pairs: float,
        prefill_sequences: int = 0,
        prefill_tokens: int = 0,
        prefill_context_tokens: float = 0.0,
        prefill_pairs: float = 0.0,
        capped: Reads = (),
        prefill_capped: Reads = (),
    ) -> float:
        """Return the time of a pass with the fields of a `PassLoad`, s: the inner call."""
        tokens, logits = positions + prefill_tokens, logit_positions + prefill_sequences
        count = sequences + prefill_sequences
        key: Size
        if self._lanes > 1:
            lane = self._lane(sequences, positions, logits, prefill_sequences, prefill_tokens)
            held = lane.sequences if self.stateful else 0
            key = (lane.tokens, lane.logits, held, lane.stage_tokens)
            decode, prefill, held = lane.decode, lane.prefill, lane.decoding
            tokens = lane.tokens  # what a graph must hold
        else:
            key = (tokens, logits, count if self.stateful else 0)
            decode = prefill = 1.0
            held = sequences
        total = self.beside_attention_s(key, count)
        if sequences:
            kinds = self._decode.get(held) or self._decode_at(held)
            if self.simple:
                total += kinds[0][1].seconds(context_tokens, pairs)
            else:
                total += decode_s(kinds, context_tokens, pairs, capped, decode)
        if prefill_tokens:
            reads = ((prefill_context_tokens, prefill_pairs), *prefill_capped)
            chunks = prefill_sequences, prefill_tokens, prefill
            total += prefill_s(self.prompt_kinds, reads, *chunks)
            if self.prompt_factor != 1.0:
                rest = (sequences, positions, logit_positions, context_tokens, pairs)
                rest_s = self._gpu_side.seconds(*rest, capped=capped) if sequences else 0.0
                total += self.beyond_kernels_s(total, rest_s, prefill_sequences)
        if self.host_beside is not None:
            return self.host_beside.together(total, count, tokens, prefill_sequences)
        return total

    def beyond_kernels_s(self, gpu_s: float, decode_s: float, prompts: int) -> float:
        """Return what prompts take beyond their kernels, s; `decode_s`: the pass without them."""
        alone_s = decode_s + self._host_sequence_s * prompts
        alone_s += 0.0 if decode_s else self._host_pass_s
        return (self.prompt_factor - 1.0) * max(0.0, gpu_s - alone_s)

    def _lane(
        self, sequences: int, positions: int, logits: float, prompts: int, prompt_tokens: int
    ) -> Lane:
        """Return what the fullest lane of a pass holds."""
        lanes, stages = self._lanes, self.layout.pipeline
        return fullest_lane(
            lanes, stages, (sequences, prompts), (positions, prompt_tokens), logits
        )

    def line(
        self,
        sequences: int,
        positions: int,
        logit_positions: float,
        growths: tuple[tuple[float, float, float, float], ...],
    ) -> tuple[float, float, int]:
        """Return the time of a decode pass [s], how much longer each later one is, for how many.

        `growths` holds, first for layers that look back all the way, then for each reach: KV
        tokens read, pairs, and by how much both grow per pass. The line ends where attention of
        one kind turns from memory-bound to compute-bound or back.
        """
        if self.host_beside is not None:
            side = self._gpu_side.line(sequences, positions, logit_positions, growths)
            tokens = positions
            if self._lanes > 1:
                tokens = self._lane(sequences, positions, logit_positions, 0, 0).tokens
            return self.host_beside.line(side, sequences, tokens)
        capped = tuple((read, pairs) for read, pairs, _, _ in growths[1:])
        read, pairs = growths[0][:2]
        first_s = self.seconds(sequences, positions, logit_positions, read, pairs, capped=capped)
        share, held, total, limit = 1.0, sequences, 0.0, NO_LIMIT
        if self._lanes > 1:
            lane = self._lane(sequences, positions, logit_positions, 0, 0)
            share, held = lane.decode, lane.decoding
        for index, rates in self._decode_at(held):
            _, slope, most = rates.line(*growths[index + 1])
            total += slope
            limit = min(limit, most)
        return first_s, total * share, limit

    def operations(self, load: PassLoad, *, pads: bool = True) -> tuple[Operation, ...]:
        """Return the operations, whose seconds make `pass_s`; `pads` False: none for padding."""
        graphs = self._graphs if pads else ()
        logits = load.logit_positions + load.prefill_sequences
        lane = self._lane(
            *(load.sequences, load.positions, logits),
            *(load.prefill_sequences, load.prefill_tokens),
        )
        decode, prefill = lane.decode, lane.prefill
        tokens, stage = (padded(each, graphs) for each in (lane.tokens, lane.stage_tokens))
        found = self.dense.operations(tokens, lane.sequences, stage)
        found += self.dense.logits(lane.logits)
        if load.sequences:
            reads = ((load.context_tokens, load.pairs), *load.capped)
            for index, rates in self._decode_at(lane.decoding):
                read, made = reads[index + 1]
                found.append(rates.operation(read * decode, made * decode, "decode"))
        if load.prefill_tokens:
            reads = ((load.prefill_context_tokens, load.prefill_pairs), *load.prefill_capped)
            held = max(1.0, load.prefill_sequences * prefill)
            for index, kind in self.prompt_kinds:
                read, made = reads[index + 1]
                chunks = held, load.prefill_tokens * prefill
                found.append(kind.operation(read * prefill, made * prefill, *chunks))
        gpu_s = sum(operation.total_s for operation in found)
        if load.prefill_tokens and self.prompt_factor != 1.0:
            alone = self._gpu_side.operations(load.decoding) if load.sequences else ()
            alone_s = sum(operation.total_s for operation in alone if operation.kind != "host")
            more_s = (self.prompt_factor - 1.0) * max(0.0, gpu_s - alone_s)
            found.append(Operation("prompts beyond their kernels", 1, more_s))
            gpu_s += more_s
        count, prompts = load.sequences + load.prefill_sequences, load.prefill_sequences
        found += self.host.operations(gpu_s, count, lane.tokens, prompts)
        return tuple(found)

    def host_s(self, sequences: int, tokens: int = 0, prompts: int = 0) -> float:
        """Return the engine's time per pass, s, without launches; see `HostTime`."""
        return self.host.seconds(sequences, tokens, prompts)

    def beside_attention_s(self, size: Size, sequences: int) -> float:
        """Return the time of all that does not depend on the context, host included, s."""
        known = self._by_size.get(size)
        if known is None:
            known = self.dense.seconds(*(on_graphs(size, self._graphs) if self._graphs else size))
            if len(self._by_size) < _MOST_REMEMBERED:  # fractional positions hardly repeat
                self._by_size[size] = known
        return known + self._host_pass_s + self._host_sequence_s * sequences
