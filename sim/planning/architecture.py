"""What architecture buys: several models on the same GPUs, over batch and context."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sim.cost import STATE_BYTES, Bound, Operation, even_load, ridge_tokens_per_pass
from sim.cost.attention import INDEXER_BYTES, attention_kinds
from sim.cost.layout import Layout
from sim.cost.weights import weight_bytes_per_gpu
from sim.decoding import Autoregressive
from sim.deployment import Deployment
from sim.errors import DoesNotFitError, InputError, SimError
from sim.hardware import GpuProfile, load_gpu
from sim.model import Model, load_model
from sim.precision import BYTES_PER_WEIGHT, Precision
from sim.scenario import Scenario, Serving, resolve
from sim.workload import Fixed

WIDTHS = (1, 2, 4, 8)
"""Tensor-parallel widths that are tried, the narrowest first."""
Why = Literal["does not fit", "refused", "KV full", "too long"]
ALONE = Layout(tensor=1, pipeline=1, expert=1, attention_data=1)


@dataclass(frozen=True, slots=True)
class Cell:
    """One decode pass of so many like sequences, one new token each."""

    sequences: int
    context_tokens: int
    why: Why | None = None
    """Why there are no figures; None: there are."""
    pass_s: float | None = None
    gpu_s_per_token: float | None = None
    """Time of all GPUs of the replica for one output token."""
    bound: Bound | None = None
    """What most of the pass waits for."""
    bound_share: float | None = None


@dataclass(frozen=True, slots=True)
class AtContext:
    """What one sequence of a length keeps and reads."""

    context_tokens: int
    cache_bytes: float
    """Kept for the sequence, counted once: KV of all layers, indexer keys, states."""
    read_bytes: float
    """Read of it for one new token, counted once."""
    read_bytes_per_gpu: float
    """Read of it on one GPU: what ranks hold twice is read twice."""
    most_sequences: int | None
    """Sequences that the KV pool of a replica holds; None: the model does not fit."""
    ridge_tokens_per_pass: int | None
    """From how many sequences on a pass is compute-bound; None: at no batch."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the models that are compared."""

    model: Model
    weight_bytes_per_gpu: float
    refusal: str | None
    """Why it cannot be served like this, in one sentence; None: it can."""
    at: tuple[AtContext, ...]
    cells: tuple[Cell, ...]

    def cell(self, sequences: int, context_tokens: int) -> Cell:
        """Return the figures of one point of the grid."""
        wanted = (sequences, context_tokens)
        return next(c for c in self.cells if (c.sequences, c.context_tokens) == wanted)

    def at_context(self, context_tokens: int) -> AtContext:
        """Return what a sequence of that length keeps and reads."""
        return next(at for at in self.at if at.context_tokens == context_tokens)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several architectures on the same replica."""

    gpu: GpuProfile
    engine: str
    deployment: Deployment
    batches: tuple[int, ...]
    contexts: tuple[int, ...]
    candidates: tuple[Candidate, ...]


def compare_architectures(
    references: Sequence[str],
    base: Scenario,
    *,
    batches: Sequence[int],
    contexts: Sequence[int],
    narrowest: bool = False,
) -> Comparison:
    """Return what a decode pass costs for each model on the replica of `base`.

    All run on the same GPUs. With `narrowest`, tensor parallelism is the least of `WIDTHS` at
    which all of them fit (the widest, if they never do), whatever `base` says.
    """
    models = [load_model(reference) for reference in references]
    names = [model.name for model in models]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"`{twice}` is named twice", where="--model", remedy="name another")
    scenarios = [_serving_of(base, reference) for reference in references]
    width = _narrowest(scenarios) if narrowest else base.deployment.tensor_parallel
    laid_out = [scenario.with_deployment(tensor_parallel=width) for scenario in scenarios]
    grid = (tuple(sorted(set(batches))), tuple(sorted(set(contexts))))
    return Comparison(
        gpu=load_gpu(base.hardware),
        engine=base.engine,
        deployment=laid_out[0].deployment,
        batches=grid[0],
        contexts=grid[1],
        candidates=tuple(
            _candidate(model, scenario, *grid)
            for model, scenario in zip(models, laid_out, strict=True)
        ),
    )


def cache_read_bytes(
    model: Model, layout: Layout, kv_precision: Precision, context_tokens: float
) -> float:
    """Return what one new token reads of a sequence's cache on one rank, B.

    KV of the tokens that each layer sees, and the recurrent states.
    """
    kv = sum(
        kind.count * kind.token_bytes * min(context_tokens, kind.reach or context_tokens)
        for kind in attention_kinds(model, layout, kv_precision)
    )
    return kv + model.state_elements_per_sequence * STATE_BYTES / layout.tensor


def cache_bytes(model: Model, kv_precision: Precision, context_tokens: int) -> float:
    """Return what a sequence keeps, counted once, B: windows that are full grow no further."""
    kv = model.kv_elements(context_tokens) * BYTES_PER_WEIGHT[kv_precision]
    keys = model.indexer_elements_per_token * INDEXER_BYTES * context_tokens
    return kv + keys + model.state_elements_per_sequence * STATE_BYTES


def _serving_of(base: Scenario, reference: str) -> Scenario:
    """Return the scenario of `base` for another model, without what passes do not depend on."""
    one = Fixed(tokens=1)
    workload = base.workload.model_copy(update={"input_tokens": one, "output_tokens": one})
    update = {
        "model": reference,
        "workload": workload,
        "decoding": Autoregressive(),
        "prices": None,
    }
    return base.model_copy(update=update)


def _narrowest(scenarios: Sequence[Scenario]) -> int:
    for width in WIDTHS:
        if all(_fits(scenario, width) for scenario in scenarios):
            return width
    return WIDTHS[-1]


def _fits(scenario: Scenario, width: int) -> bool:
    try:
        resolve(scenario.with_deployment(tensor_parallel=width))
    except DoesNotFitError:
        return False
    except SimError:  # refused at this width for another reason, and perhaps at every width
        return True
    return True


def _candidate(
    model: Model, scenario: Scenario, batches: tuple[int, ...], contexts: tuple[int, ...]
) -> Candidate:
    deployment, gpu = scenario.deployment, load_gpu(scenario.hardware)
    serving, refusal, why = _resolved(scenario)
    points = [(batch, context) for context in contexts for batch in batches]
    return Candidate(
        model=model,
        weight_bytes_per_gpu=weight_bytes_per_gpu(model, gpu, deployment),
        refusal=refusal,
        at=tuple(_at_context(model, deployment, serving, context) for context in contexts),
        cells=tuple(
            Cell(batch, context, why) if serving is None else _cell(serving, batch, context)
            for batch, context in points
        ),
    )


def _resolved(scenario: Scenario) -> tuple[Serving | None, str | None, Why | None]:
    try:
        return resolve(scenario), None, None
    except DoesNotFitError as error:
        return None, str(error), "does not fit"
    except SimError as error:
        return None, str(error), "refused"


def _at_context(
    model: Model, deployment: Deployment, serving: Serving | None, context: int
) -> AtContext:
    kv = deployment.kv_precision
    ridge = None
    if serving is not None:
        ridge = ridge_tokens_per_pass(serving.cost, context_tokens=float(context))
    return AtContext(
        context_tokens=context,
        cache_bytes=cache_bytes(model, kv, context),
        read_bytes=cache_read_bytes(model, ALONE, kv, context),
        read_bytes_per_gpu=cache_read_bytes(model, Layout.of(deployment), kv, context),
        most_sequences=None if serving is None else most_sequences(serving, context),
        ridge_tokens_per_pass=ridge,
    )


def most_sequences(serving: Serving, context: int) -> int:
    """Return how many sequences of a length the KV pool of a replica holds."""
    groups = serving.cost.deployment.attention_data_parallel  # each has a pool of its own
    blocks = serving.memory.blocks // groups
    return groups * int(blocks // serving.memory.kv.blocks_for(float(context)))


def _cell(serving: Serving, sequences: int, context: int) -> Cell:
    if context > serving.model.max_context_tokens:
        return Cell(sequences, context, "too long")
    if sequences > most_sequences(serving, context):
        return Cell(sequences, context, "KV full")
    operations = serving.cost.operations(even_load(serving.cost, sequences, float(context)))
    total_s = sum(operation.total_s for operation in operations)
    bound, share_s = max(_by_bound(operations), key=lambda pair: pair[1])
    gpu_s = serving.cost.deployment.gpus_per_replica * total_s / sequences
    return Cell(sequences, context, None, total_s, gpu_s, bound, share_s / total_s)


def _by_bound(operations: Sequence[Operation]) -> Iterator[tuple[Bound, float]]:
    for bound in dict.fromkeys(operation.bound for operation in operations):
        yield bound, sum(o.total_s for o in operations if o.bound == bound)
