"""One request under one strategy, pass by pass: what is computed, and what the user sees when."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.cost import Bound, ForwardPass, PassLoad
from sim.decoding import Phase, Plan
from sim.errors import InputError
from sim.planning.strategies import Entry
from sim.records import Leaps, Simulation, Status, Traffic
from sim.run import serve
from sim.scenario import Scenario, Serving, resolve
from sim.units import counted


@dataclass(frozen=True, slots=True)
class Stretch:
    """Passes of one kind that follow each other; figures are of one replica, all its sequences."""

    kind: str
    """`prefill`, `wait`, or `decode`."""
    passes: int
    positions_per_pass: float
    flop: float
    """In all its passes."""
    bytes_moved: float
    """Weights, KV and activations, in all its passes."""
    begin_s: float
    end_s: float
    draft_s: float
    """Of it, time of a drafter, whose work is not in `flop` and `bytes_moved`."""
    bound: Bound
    """What bounds most of its time."""

    @property
    def seconds(self) -> float:
        """Its time, s."""
        return self.end_s - self.begin_s


@dataclass(frozen=True, slots=True)
class Seen:
    """Tokens that the user has seen at a time, s after arrival."""

    at_s: float
    tokens: float
    """Whole where the strategy tells; bursts whose size is random count by their mean."""


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The last of `batch` like requests that arrive together at an idle replica."""

    entry: Entry
    scenario: Scenario
    serving: Serving
    input_tokens: int
    output_tokens: int
    batch: int
    stretches: tuple[Stretch, ...]
    seen: tuple[Seen, ...]

    @property
    def passes(self) -> int:
        """Passes in all."""
        return sum(stretch.passes for stretch in self.stretches)

    @property
    def total_s(self) -> float:
        """From arrival to the last token, s."""
        return self.seen[-1].at_s


def anatomy(
    scenario: Scenario,
    entry: Entry,
    *,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    batch: int = 1,
) -> Anatomy:
    """Take a request of the scenario's mean lengths (or of those given) apart.

    It takes the passes that such a request takes on average; nothing is random. Of several that
    arrive together the last one is shown: when its prefill is done, all decode. A policy of
    verification is left out: the request decodes as its strategy plans it.
    """
    planned = entry.decoding
    if getattr(planned, "policy", None) is not None:
        planned = planned.model_copy(update={"policy": None})
    chosen = scenario.with_decoding(planned).with_deployment(replicas=1)
    chosen = chosen.with_deployment(max_sequences=max(batch, chosen.deployment.max_sequences))
    serving, strategy = resolve(chosen), chosen.decoding
    prompt, answer = (max(1, round(mean)) for mean in scenario.workload.mean_tokens())
    prompt, answer = input_tokens or prompt, output_tokens or answer
    passes = max(min(1, answer - 1), round(strategy.mean_passes(answer)))
    lengths = (np.full(batch, prompt), np.full(batch, answer))
    traffic = Traffic(np.zeros(batch), *lengths, measured=batch)
    counts = np.full(batch, passes, dtype=np.int64)
    found = serve(chosen, serving, traffic, passes=counts)
    _check(
        found, entry, f"a prompt of {prompt:,} and an answer of {counted(answer, 'token')}", batch
    )
    plan, track = strategy.plan(prompt, answer, passes), _Track(found.leaps, serving.cost)
    begin = track.decoding_from(plan, float(found.records.admitted_s[-1]))
    return Anatomy(
        entry=entry, scenario=chosen, serving=serving,
        input_tokens=prompt, output_tokens=answer, batch=batch,
        stretches=tuple(_stretches(track, plan, begin)),
        seen=tuple(_seen(track, plan, begin)),
    )  # fmt: skip


def _check(found: Simulation, entry: Entry, asked: str, batch: int) -> None:
    if (found.records.status != Status.FINISHED).any():
        why = "".join(f": {reason}" for reason, _ in found.rejections)
        budget = "positions than the budget" in why
        raise InputError(
            f"{asked} can never run by {entry.label.lower()}{why}",
            remedy="raise `deployment.max_batched_tokens`" if budget else "shorten them",
        )
    if found.records.preemptions.any():
        raise InputError(
            f"{batch:,} such requests do not fit into memory at once",
            where="--batch",
            remedy="use fewer",
        )


class _Track:
    """The passes of a replica one by one: leaps spread out."""

    def __init__(self, leaps: Leaps, cost: ForwardPass) -> None:
        self.leaps, self.cost = leaps, cost
        self.leap = np.repeat(np.arange(len(leaps.passes)), leaps.passes)
        self.first = np.cumsum(leaps.passes) - leaps.passes
        number = np.arange(len(self.leap)) - self.first[self.leap] + 1.0
        later = leaps.slope_s[self.leap] * number * (number - 1) / 2
        self.end_s = leaps.start_s[self.leap] + number * leaps.first_s[self.leap] + later

    def decoding_from(self, plan: Plan, admitted_s: float) -> int:
        """Return the number of the pass in which the last request begins to decode."""
        if plan.prefill_tokens:
            return int(np.flatnonzero(self.leaps.prefill_s[self.leap] > 0)[-1]) + 1
        return int(np.searchsorted(self.end_s, admitted_s, side="right"))

    def time_s(self, passes: int) -> float:
        """Return the time at which so many passes have ended, s."""
        return float(self.end_s[passes - 1]) if passes else 0.0

    def stretch(self, kind: str, begin: int, end: int) -> Stretch:
        """Return what the passes from `begin` up to `end` do."""
        leaps, weight = self.leaps, np.bincount(self.leap[begin:end], minlength=len(self.first))
        flop = moved = 0.0
        bounds: dict[Bound, float] = {}
        for leap in np.flatnonzero(weight):
            passes = float(leaps.passes[leap])
            load = PassLoad(
                round(float(leaps.sequences[leap])),
                round(float(leaps.positions[leap]) / passes),
                float(leaps.logit_positions[leap]) / passes,
                float(leaps.context_tokens[leap]) / passes,
                float(leaps.pairs[leap]) / passes,
                capped=tuple(
                    (float(read[leap]) / passes, float(pairs[leap]) / passes)
                    for read, pairs in leaps.capped
                ),
            )
            gpus = self.cost.deployment.gpus_per_replica
            for operation in self.cost.operations(load):
                times = float(weight[leap]) * operation.count
                bounds[operation.bound] = (
                    bounds.get(operation.bound, 0.0) + times * operation.seconds
                )
                flop += times * operation.flop * gpus
                if operation.kind == "kernel":
                    moved += times * operation.bytes_moved * gpus
        count = end - begin
        each = leaps.positions / leaps.passes
        return Stretch(
            kind=kind,
            passes=count,
            positions_per_pass=float((weight * each).sum()) / count,
            flop=flop,
            bytes_moved=moved,
            begin_s=self.time_s(begin),
            end_s=self.time_s(end),
            draft_s=float((weight * leaps.draft_s / leaps.passes).sum()),
            bound=max(bounds, key=lambda bound: bounds[bound]),
        )


def _stretches(track: _Track, plan: Plan, begin: int) -> Iterator[Stretch]:
    """Yield the prefill, and each phase; like phases that follow each other are one."""
    if begin:
        yield track.stretch("prefill" if plan.prefill_tokens else "wait", 0, begin)
    place = begin
    for phase in plan.phases:
        yield track.stretch("decode", place, place + phase.passes)
        place += phase.passes


def _seen(track: _Track, plan: Plan, begin: int) -> Iterator[Seen]:
    shown, place = 0.0, begin
    if plan.prefill_yields:
        shown = 1.0
        yield Seen(track.time_s(begin), shown)
    for phase in plan.phases:
        for chunk in range(1, phase.chunks + 1):
            at_s = track.time_s(place + chunk * phase.chunk_passes)
            yield Seen(at_s, shown + _tokens(phase, chunk))
        shown += phase.visible_tokens
        place += phase.passes


def _tokens(phase: Phase, chunks: int) -> float:
    """Return the tokens that the first chunks of a phase show."""
    if chunks == phase.chunks:
        return float(phase.visible_tokens)
    each = phase.kv_growth * phase.chunk_passes or phase.visible_tokens / phase.chunks
    return min(float(phase.visible_tokens), each * chunks)
