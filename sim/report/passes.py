"""One pass, operation by operation: where its time goes, and why."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from sim.cost import Operation, even_load, even_prompt, ridge_tokens_per_pass
from sim.cost.host import padded
from sim.decoding import Phase, typical_phase
from sim.engine import draft_pricer
from sim.errors import InputError
from sim.planning.architecture import most_sequences
from sim.report.decode_mean import decode_mean
from sim.report.table import Table, columns
from sim.report.words import NOTHING, count, number, percent
from sim.run import Outcome, run
from sim.scenario import Scenario, Serving, resolve
from sim.units import GB, GIGA, MS_PER_S, counted
from sim.workload import Trace

MOST_REQUESTS = 1000
"""Requests simulated to see which batch is typical."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What is in a pass: sequences that decode, and how much KV each of them reads on average."""

    sequences: int
    context_tokens: float


@dataclass(frozen=True, slots=True)
class PassBreakdown:
    """A pass of one replica, on one of its GPUs."""

    title: str
    tokens: int
    """Query positions in the pass."""
    slots: int
    """The same, with those that fill it up to a captured graph: what products are made for."""
    operations: tuple[Operation, ...]
    draft_s: float
    """Time of the drafter that goes with the pass."""

    @property
    def total_s(self) -> float:
        """Time of the pass, s."""
        return sum(operation.total_s for operation in self.operations) + self.draft_s


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decode pass and the prefill of one prompt, with what bounds them."""

    scenario: Scenario
    serving: Serving
    batch: Batch
    decode: PassBreakdown
    prefill: PassBreakdown
    ridge_tokens_per_pass: int | None
    most_sequences: int
    """Sequences of that context that the KV pool of the replica holds."""

    @property
    def kv_full(self) -> bool:
        """Whether the batch is one that no engine could hold."""
        return self.batch.sequences > self.most_sequences


def explain(
    scenario: Scenario, *, sequences: int | None = None, context_tokens: float | None = None
) -> Explanation:
    """Break down a decode pass and a prefill, at the typical batch unless one is given."""
    unpriced = scenario.model_copy(update={"prices": None})  # no list has every GPU
    serving = resolve(unpriced)
    _check_context(serving, context_tokens)
    typical = typical_batch(run(_shorter(unpriced)))
    batch = Batch(sequences or typical.sequences, context_tokens or typical.context_tokens)
    prompt = ceil(scenario.workload.mean_tokens()[0])
    phase = typical_phase(scenario.decoding, *scenario.workload.mean_tokens())
    return Explanation(
        scenario=scenario,
        serving=serving,
        batch=batch,
        decode=decode_pass(scenario, serving, phase, batch),
        prefill=prefill_pass(serving, min(prompt, scenario.deployment.max_batched_tokens)),
        ridge_tokens_per_pass=ridge_tokens_per_pass(
            serving.cost, context_tokens=batch.context_tokens, queries=phase.positions
        ),
        most_sequences=most_sequences(serving, ceil(batch.context_tokens)),
    )


def _check_context(serving: Serving, context_tokens: float | None) -> None:
    """Refuse a context that no sequence of the model ever has."""
    most = serving.limits.max_context_tokens
    if context_tokens is not None and context_tokens > most:
        raise InputError(
            f"{context_tokens:,.0f} tokens, but {serving.model.name} takes {most:,} in all",
            where="--context",
            remedy="ask for fewer, or choose a model with a longer context",
        )


def typical_batch(outcome: Outcome) -> Batch:
    """Return the mean over the passes of a run that only decode."""
    mean = decode_mean(outcome.simulation.leaps, lanes=outcome.simulation.lanes)
    if mean is None:
        return Batch(1, float(sum(outcome.scenario.workload.mean_tokens())))
    return Batch(max(1, round(mean.sequences)), mean.context_tokens / mean.sequences)


def decode_pass(scenario: Scenario, serving: Serving, phase: Phase, batch: Batch) -> PassBreakdown:
    """Return the mean pass of a phase of the strategy over a batch that only decodes."""
    strategy = scenario.decoding
    sequences, context = batch.sequences, batch.context_tokens
    load = even_load(
        serving.cost,
        sequences,
        context,
        phase.positions,
        logit_positions=phase.logit_positions,
        # What a position attends to: the context that it reads, less what its own pass adds.
        pairs=phase.positions * (context - phase.read_extra) + phase.pair_extra,
    )
    drafter = draft_pricer(strategy.draft_work, serving.cost, serving.draft_cost)
    draft_s = 0.0
    if drafter is not None:
        own = even_load(serving.cost, sequences, context)
        draft_s = drafter.round_s(sequences, own.context_tokens, own.capped)
    title = (
        f"One pass that decodes {counted(sequences, 'sequence')} of {counted(context, 'token')}"
    )
    slots = _slots(serving, load.positions)
    return PassBreakdown(title, load.positions, slots, serving.cost.operations(load), draft_s)


def prefill_pass(serving: Serving, tokens: int) -> PassBreakdown:
    """Return the pass that computes one whole prompt, alone."""
    load = even_prompt(serving.cost, tokens)
    title = f"The prefill of one prompt of {counted(tokens, 'token')}"
    slots = _slots(serving, tokens)
    return PassBreakdown(title, tokens, slots, serving.cost.operations(load), 0.0)


def _slots(serving: Serving, positions: int) -> int:
    """Return the positions of the graph that holds a pass, over all lanes."""
    lanes = serving.limits.lanes
    return lanes * padded(-(-positions // lanes), serving.cost.engine.graph_batch_sizes)


def _shorter(scenario: Scenario) -> Scenario:
    """Return the scenario with fewer requests: enough to see its typical batch."""
    workload, requests = scenario.workload, min(scenario.run.requests, MOST_REQUESTS)
    if not isinstance(workload.arrivals, Trace):
        users = getattr(workload.arrivals, "users", 0)
        return scenario.with_workload(workload, max(requests, 4 * users))
    most = min(workload.arrivals.max_requests or MOST_REQUESTS, MOST_REQUESTS)
    arrivals = workload.arrivals.model_copy(update={"max_requests": most})
    return scenario.with_workload(workload.model_copy(update={"arrivals": arrivals}))


def pass_table(breakdown: PassBreakdown) -> Table:
    """Return the operations with their work on one GPU, time, share and bound."""
    total_s = breakdown.total_s
    rows: list[tuple[str, ...]] = [
        (
            operation.name,
            count(operation.count),
            _or_nothing(operation.count * operation.flop / GIGA),
            _or_nothing(operation.count * operation.bytes_moved / GB),
            f"{operation.total_s * MS_PER_S:.3f}",
            percent(operation.total_s / total_s),
            operation.bound,
        )
        for operation in breakdown.operations
    ]
    if breakdown.draft_s:
        share = percent(breakdown.draft_s / total_s)
        draft_ms = f"{breakdown.draft_s * MS_PER_S:.3f}"
        rows.append(("drafter", "", NOTHING, NOTHING, draft_ms, share, ""))
    rows.append(("pass", "", "", "", f"{total_s * MS_PER_S:.3f}", "100%", ""))
    heads = columns("<operation", "times", "GFLOP", "GB", "ms", "share", "<bound")
    filled = ""
    if breakdown.slots != breakdown.tokens:
        filled = f", filled up to the {count(breakdown.slots)} of a captured graph"
    note = f"{counted(breakdown.tokens, 'position')}{filled}; work of one GPU, all layers together"
    return Table(breakdown.title, heads, tuple(rows), note)


def _or_nothing(value: float) -> str:
    return number(value) if value else NOTHING


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """Return the explanation as plain values, keys with units."""
    memory = explanation.serving.memory
    return {
        "scenario": explanation.scenario.name,
        "decoding": explanation.scenario.decoding.name,
        "sequences": explanation.batch.sequences,
        "context_tokens": explanation.batch.context_tokens,
        "most_sequences": explanation.most_sequences,
        "kv_full": explanation.kv_full,
        "ridge_tokens_per_pass": explanation.ridge_tokens_per_pass,
        "decode_pass": _pass_document(explanation.decode),
        "prefill_pass": _pass_document(explanation.prefill),
        "memory": {
            "usable_bytes": memory.usable_bytes,
            "weight_bytes": memory.weight_bytes,
            "draft_weight_bytes": memory.draft_weight_bytes,
            "reserve_bytes": memory.reserve_bytes,
            "kv_bytes_per_token": memory.kv_bytes_per_token,
            "kv_pool_tokens": memory.pool_tokens,
        },
    }


def _pass_document(breakdown: PassBreakdown) -> dict[str, Any]:
    return {
        "positions": breakdown.tokens,
        "slots": breakdown.slots,
        "total_ms": breakdown.total_s * MS_PER_S,
        "draft_ms": breakdown.draft_s * MS_PER_S,
        "operations": [
            {
                "name": operation.name,
                "count": operation.count,
                "flop": operation.count * operation.flop,
                "bytes": operation.count * operation.bytes_moved,
                "ms": operation.total_s * MS_PER_S,
                "share": operation.total_s / breakdown.total_s,
                "bound": operation.bound,
            }
            for operation in breakdown.operations
        ],
    }
