"""Anything that a scenario may hold, drawn by hypothesis: strategies, costs, limits, traffic."""

from dataclasses import dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from annotated_types import Ge, Gt, Le, Lt, MinLen
from hypothesis import assume
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from sim.cost import ForwardPass, KvShape
from sim.decoding import AnyStrategy, Speculative, Strategy, Tree
from sim.deployment import Deployment
from sim.engine import Limits
from sim.hardware import load_engine, load_fitted, load_gpu
from sim.model import load_model
from sim.records import IntArray, Traffic
from sim.routers import AnyRouter
from tests.laws.prefixes import prefixes
from tests.laws.sessions import in_sessions
from tests.laws.small_models import STACKS, WITH_EXPERTS, small_model

KINDS: tuple[type[BaseModel], ...] = get_args(get_args(AnyStrategy)[0])
"""Every strategy that a scenario may name: the union is the test list."""
ROUTERS: tuple[Any, ...] = get_args(get_args(AnyRouter)[0])
"""Every router that a scenario may name."""
LAYOUTS: tuple[dict[str, int], ...] = (
    {},
    {"tensor_parallel": 4},
    {"pipeline_parallel": 2},
    {"attention_data_parallel": 2},
    {"pipeline_parallel": 3},
    {"attention_data_parallel": 3},
    {"tensor_parallel": 2, "attention_data_parallel": 2, "pipeline_parallel": 2},
)
SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {"windows": ((8, 0.5),)},
    {"windows": ((5, 0.25), (24, 1.5)), "sequence_blocks": 0.75},
    {"full": 0.0, "windows": ((16, 1.0),)},
    {"full": 0.0, "sequence_blocks": 1.0},
)
"""Pools of other kinds of layers; parts of blocks that add up without rounding."""
BUSY_HOST: dict[str, Any] = {
    "host_s_per_pass": 6.3e-3,
    "host_s_per_prompt": 1.1e-4,
    "graph_batch_sizes": (1, 2, 4, 8, 16),
    "eager_host_s_per_pass": 1.3e-3,
    "host_s_per_launch": 2.1e-5,
}
"""A host that takes about as long as the GPU, on padded passes, and starts the others' kernels."""
HOSTS = ("plain", "in turn", "beside")
"""How the host goes: a time a pass, a busy one in turn with the GPU, or at the same time."""
_WIDTH = 15
"""Whole numbers are drawn from the low end of their bounds: small cases find as much, sooner."""


def strategies_of(kind: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Return any strategy of a kind, from the bounds that its own fields state."""
    return _speculative() if kind is Speculative else _models(kind)


def any_strategy() -> st.SearchStrategy[Any]:
    """Return any strategy of any kind."""
    return st.one_of([strategies_of(kind) for kind in KINDS])


@st.composite
def _models(draw: st.DrawFn, kind: type[BaseModel]) -> Any:
    """Fill the fields without which the strategy cannot be, and numbers and names among others."""
    extra: Any = kind.model_config.get("json_schema_extra") or {}
    if "examples" in extra:  # names that mean something, which nobody can make up
        return kind.model_validate(draw(st.sampled_from(extra["examples"])))
    fields = {
        name: draw(_values(field.annotation, tuple(field.metadata)))
        for name, field in kind.model_fields.items()
        if field.is_required() or (_can_be_made_up(field) and draw(st.booleans()))
    }
    try:
        return kind(**fields)
    except ValidationError:
        assume(condition=False)  # its fields do not go together: draw again
        raise


def _can_be_made_up(field: FieldInfo) -> bool:
    """Whether any value of the field's type may stand there: numbers and fixed names."""
    inside = get_args(field.annotation) or (field.annotation,)
    kinds = [get_args(part)[0] if get_origin(part) is Annotated else part for part in inside]
    numbers = all(part in {int, float, bool, NoneType} for part in kinds)
    return numbers or get_origin(field.annotation) is Literal


def _values(annotation: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Return values of a field's type, within its bounds."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        found = _values(inside[0], (*metadata, *inside[1:]))
    elif origin is Literal:
        found = st.sampled_from(inside)
    elif origin in {Union, UnionType}:
        found = st.one_of([_values(part, metadata) for part in inside if part is not NoneType])
    elif origin is tuple:
        least = next((bound.min_length for bound in metadata if isinstance(bound, MinLen)), 0)
        members = st.lists(_values(inside[0]), min_size=least, max_size=least + 4)
        found = members.map(tuple)
    elif annotation is bool:
        found = st.booleans()
    elif issubclass(annotation, BaseModel):
        found = _models(annotation)
    else:
        found = _numbers(annotation, metadata)
    return found


def _numbers(kind: type, metadata: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    """Return whole or real numbers within bounds of `annotated_types`."""
    bounds: dict[type, Any] = {
        Ge: next((bound.ge for bound in metadata if isinstance(bound, Ge)), None),
        Gt: next((bound.gt for bound in metadata if isinstance(bound, Gt)), None),
        Le: next((bound.le for bound in metadata if isinstance(bound, Le)), None),
        Lt: next((bound.lt for bound in metadata if isinstance(bound, Lt)), None),
    }
    if kind is int:
        first = bounds[Ge] if bounds[Gt] is None else bounds[Gt] + 1
        first = 0 if first is None else first
        last = bounds[Le] if bounds[Lt] is None else bounds[Lt] - 1
        return st.integers(first, first + _WIDTH if last is None else min(last, first + _WIDTH))
    return st.floats(
        min_value=bounds[Ge] if bounds[Gt] is None else bounds[Gt],
        max_value=bounds[Le] if bounds[Lt] is None else bounds[Lt],
        exclude_min=bounds[Gt] is not None,
        exclude_max=bounds[Lt] is not None,
        allow_nan=False,
        allow_infinity=False,
    )


DRAFTS: tuple[dict[str, Any], ...] = (
    {"work_share": 0.01},
    {"work_share": 0.14},
    {"work_share": 1.0},
    {"kind": "model", "model": "any"},
    {"kind": "eagle"},
    {"kind": "mtp"},
    {"kind": "medusa"},
    {"kind": "block", "layers": 3},
    {"kind": "ngram"},
)
"""Drafters of every kind; what their passes cost is drawn apart."""


@st.composite
def _speculative(draw: st.DrawFn) -> Speculative:
    """Return chains and trees of drafts; acceptance figures must be one for each."""
    count = draw(st.integers(1, 6))
    given = tuple(draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    ways: tuple[dict[str, Any], ...] = (
        {"conditional_acceptance": given},
        {"survival": tuple(sorted(given)[::-1])},
        {"acceptance_rate": given[0]},
        {"all_or_nothing": {"none": given[0] / 2, "all": given[-1] / 2}},
        {"tokens_per_pass": {count: 1.0 + count * given[0]}},
    )
    policies = (
        None,
        {"kind": "fixed"},
        {"kind": "off_above", "sequences": draw(st.integers(0, 4))},
        {"kind": "adaptive", "confidence_concentration": draw(st.sampled_from([0.3, 2.0, 50.0]))},
    )
    policy = draw(st.sampled_from(policies))
    tree = st.none() | st.builds(Tree, nodes=st.integers(count + 1, 12), width=st.integers(1, 4))
    return Speculative.model_validate(
        {
            "draft_tokens": count,
            "draft": draw(st.sampled_from(DRAFTS)),
            "tree": draw(tree if policy is None or policy["kind"] != "adaptive" else st.none()),
            "policy": policy,
            **draw(st.sampled_from(ways)),
        }
    )


@cache
def a_cost(
    *,
    model: str = "llama-3.1-8b",
    gpu: str = "h100_sxm",
    fp8: bool = False,
    verify_efficiency: float = 0.55,
    host_s: float = 0.0,
    host: str = "plain",
    kernels: str = "generic",
    **layout: int,
) -> ForwardPass:
    """Return the cost model of a real model, or of a small one, on a real GPU.

    With a low `verify_efficiency` attention turns compute-bound with few query positions. `host`
    is one of `HOSTS`.
    """
    profile, engine = load_gpu(gpu), load_engine("generic")
    fitted = load_fitted(profile, kernels)
    attention = {
        name: {
            precision: fit.model_copy(update={"flop_efficiency": verify_efficiency})
            for precision, fit in getattr(fitted, name).items()
        }
        for name in ("decode_attention", "latent_attention")
    }
    precision: Literal["fp8", "bf16"] = "fp8" if fp8 else "bf16"
    return ForwardPass(
        small_model(model) if model in STACKS else load_model(model),
        profile,
        fitted.model_copy(update=attention),
        engine.model_copy(
            update={
                "host_s_per_sequence": host_s,
                **({} if host == "plain" else BUSY_HOST),
                "asynchronous": host == "beside",
            }
        ),
        Deployment.model_validate({**layout, "weights": precision, "kv_precision": precision}),
    )


@st.composite
def costs(draw: st.DrawFn) -> ForwardPass:
    """Return cost models of all kinds, with and without collectives and host time."""
    model = draw(st.sampled_from(["llama-3.1-8b"] * 4 + ["gpt-oss-20b", *STACKS]))
    layout = dict(draw(st.sampled_from(LAYOUTS)))
    if model in WITH_EXPERTS and layout.get("attention_data_parallel") == 2:
        layout["expert_parallel"] = draw(st.sampled_from([1, 2]))
    return a_cost(
        model=model,
        fp8=draw(st.booleans()),
        verify_efficiency=draw(st.sampled_from([0.55, 0.02, 0.1])),
        host_s=draw(st.sampled_from([0.0, 1e-5])),
        host=draw(st.sampled_from([HOSTS[0], *HOSTS])),
        kernels=draw(st.sampled_from(["generic", "vllm"])),
        **layout,
    )


@dataclass(frozen=True, slots=True)
class Case:
    """All that `simulate` takes."""

    traffic: Traffic
    passes: IntArray
    strategy: Strategy
    cost: ForwardPass
    limits: Limits
    draft_cost: ForwardPass | None = None


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    """Return small replicas, often short of KV, budget or places."""
    block = draw(st.sampled_from([1, 4, 16]))
    return Limits(
        replicas=draw(st.integers(1, 3)),
        max_sequences=draw(st.sampled_from([1, 2, 3, 5, 64])),
        max_batched_tokens=draw(st.sampled_from([8, 17, 64, 256])),
        kv=KvShape(
            blocks=draw(st.integers(30, 600)) // block + 1,
            block_tokens=block,
            **draw(st.sampled_from(SHAPES)),
        ),
        max_context_tokens=draw(st.sampled_from([150, 100_000])),
        router=draw(st.one_of([_models(router) for router in ROUTERS])),
        prefix_cache=draw(st.booleans()),
    )


@st.composite
def traffic(draw: st.DrawFn) -> Traffic:
    """Return a few requests: bursts, gaps, or users who wait for their answers."""
    lengths = st.tuples(st.integers(1, 120), st.integers(1, 40), st.integers(0, 60))
    rows = draw(st.lists(lengths, min_size=1, max_size=12))
    inputs, outputs, gaps = np.array(rows, dtype=np.int64).T
    users = draw(st.none() | st.integers(1, min(6, len(rows))))
    # no round numbers: who comes at the very end of a pass would hang on the last bit of a float
    arrival_s = np.cumsum(gaps) * 1.234567891e-3
    measured = len(rows) if users else draw(st.integers(1, len(rows)))
    blocks = draw(st.none() | prefixes(inputs, outputs))
    think_s = draw(st.sampled_from([0.0, 0.0271828])) if users else 0.0
    asked = Traffic(
        np.zeros(len(rows)) if users else arrival_s,
        inputs,
        outputs,
        measured=measured,
        users=users,
        think_s=think_s,
        prefix_blocks=blocks,
    )
    return draw(in_sessions(asked)) if draw(st.integers(0, 3)) == 0 else asked


@st.composite
def cases(draw: st.DrawFn, kind: type[BaseModel] | None = None) -> Case:
    """Return a small scenario for the engine."""
    strategy = draw(any_strategy() if kind is None else strategies_of(kind))
    asked = draw(traffic())
    passes = strategy.draw_passes(asked.output_tokens, np.random.default_rng(0))
    (cost, draft_cost), room = draw(both_costs(strategy)), draw(limits())
    if draw(st.booleans()):  # else the lanes share one queue, priced as if split evenly
        layout = cost.layout
        room = replace(room, ranks=layout.attention_data, microbatches=layout.pipeline)
    return Case(asked, passes, strategy, cost, room, draft_cost)


@st.composite
def both_costs(draw: st.DrawFn, strategy: Strategy) -> tuple[ForwardPass, ForwardPass | None]:
    """Return costs of a served model and of the drafter that its strategy needs, if any."""
    cost, work = draw(costs()), strategy.draft_work
    if work is None or work.share is not None:
        return cost, None
    draft_cost = draw(costs())
    reaches = {*cost.reaches, *draft_cost.reaches}
    return _over(cost, reaches), _over(draft_cost, reaches)


def _over(cost: ForwardPass, reaches: set[int]) -> ForwardPass:
    return ForwardPass(
        *(cost.model, cost.gpu, cost.fitted, cost.engine, cost.deployment), reaches=reaches
    )
