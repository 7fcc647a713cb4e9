"""Laws of the cost model, for every model of the catalog, on any machine, at any load."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sim.cost import NO_LIMIT, ForwardPass, PassLoad
from sim.deployment import BYTES_PER_ELEMENT
from sim.model import DenseMlp, Experts, GroupedQuery, list_models
from sim.precision import PRECISIONS
from tests.laws.building import a_cost
from tests.laws.loads import KERNELS, Shape, machines_of, shapes
from tests.laws.machines import LINKS, RATES, faster, lossless

pytestmark = pytest.mark.laws
EVERY_MODEL = pytest.mark.parametrize("model", list_models())
FEW = settings(max_examples=7)  # for each model; every GPU has its turn in test_every_machine


def matrices_of_a_token(cost: ForwardPass) -> float:
    """Weights of the layers' matrices that one token meets, on all GPUs together."""
    model, total = cost.model, 0.0
    for group in model.groups:
        mixer, mlp, hidden = group.layer.mixer, group.layer.mlp, model.hidden_size
        if mixer is not None:
            total += group.count * mixer.matrix_elements(hidden)
        if isinstance(mlp, DenseMlp):
            total += group.count * mlp.matrix_elements(hidden)
        elif isinstance(mlp, Experts):
            always = mlp.experts * hidden + mlp.shared_elements(hidden)
            routed = mlp.latent_elements(hidden) + mlp.active * mlp.expert_elements(hidden)
            total += group.count * (always + routed)
    return total


def attention_of(cost: ForwardPass, shape: Shape) -> tuple[float, float]:
    """FLOP and KV bytes of the decoding sequences in attention, at the very least."""
    flop = moved = 0.0
    for mixer, count in cost.model.attention_groups():
        if isinstance(mixer, GroupedQuery):
            width, window = mixer.head_dim + mixer.value_dim, mixer.window_tokens
            reach = float("inf") if window is None else window // 2 if mixer.chunked else window
        else:
            width, reach = 2 * mixer.kv_rank + mixer.rope_dim, mixer.top_k_tokens or float("inf")
        flop += count * 2 * mixer.heads * width * shape.pairs(reach)
        moved += count * mixer.kv_elements_per_token * shape.read(reach)
    return flop, moved * BYTES_PER_ELEMENT[cost.deployment.kv_precision]


@EVERY_MODEL
@FEW
@given(data=st.data(), shape=shapes())
def test_no_pass_is_faster_than_its_bytes_and_its_flop_on_the_peaks(
    model: str, data: st.DataObject, shape: Shape
) -> None:
    cost = data.draw(machines_of(model))
    load, gpus = shape.on(cost), cost.deployment.gpus_per_replica
    fast = max(cost.gpu.peak_flop_per_s(width) or 0.0 for width in PRECISIONS)
    matrices, head = matrices_of_a_token(cost), cost.model.head_elements
    logits = load.logit_positions + load.prefill_sequences
    attention_flop, kv_bytes = attention_of(cost, shape)
    flop = 2 * matrices * (load.positions + load.prefill_tokens) + 2 * head * logits
    least_bytes = min(BYTES_PER_ELEMENT.values())  # whatever the checkpoint stores
    weights = cost.deployment.weights
    known = least_bytes if weights == "checkpoint" else BYTES_PER_ELEMENT[weights]
    if known < 1:  # a format that the checkpoint itself uses in parts only is taken by part
        known = least_bytes
    weight_bytes = known * matrices / (gpus / cost.deployment.pipeline_parallel)
    compute_s = (flop + attention_flop) / gpus / fast
    moved = weight_bytes + kv_bytes / gpus
    memory_s = moved / cost.gpu.memory_bandwidth_bytes_per_s.value
    assert cost.pass_s(load) >= max(compute_s, memory_s) * (1 - 1e-12)


@EVERY_MODEL
@FEW
@given(data=st.data(), shape=shapes())
def test_a_pass_is_the_sum_of_its_operations_and_none_beats_the_peaks(
    model: str, data: st.DataObject, shape: Shape
) -> None:
    cost = data.draw(machines_of(model))
    load = shape.on(cost)
    operations = cost.operations(load)
    total_s = sum(operation.count * operation.seconds for operation in operations)
    assert cost.pass_s(load) == pytest.approx(total_s, rel=1e-12)
    fast = max(cost.gpu.peak_flop_per_s(width) or 0.0 for width in PRECISIONS)
    for part in operations:
        assert part.total_s == part.count * part.seconds
        if part.kind == "kernel":
            moved_s = part.bytes_moved / cost.gpu.memory_bandwidth_bytes_per_s.value
            assert part.seconds >= max(moved_s, part.flop / fast) * (1 - 1e-12), part.name
            assert 0 <= part.activation_bytes <= part.bytes_moved, part.name


@EVERY_MODEL
@FEW
@given(data=st.data(), shape=shapes(), factor=st.floats(1.01, 10))
def test_on_peaks_more_bandwidth_or_flop_never_costs_time(
    model: str, data: st.DataObject, shape: Shape, factor: float
) -> None:
    cost = lossless(data.draw(machines_of(model)))
    load = shape.on(cost)
    before_s = cost.pass_s(load)
    for figure in (*RATES, *LINKS):
        assert faster(cost, figure, factor).pass_s(load) <= before_s * (1 + 1e-12), figure
    everything = cost
    for figure in (*RATES, *LINKS):
        everything = faster(everything, figure, factor)
    host_s = cost.host_s(load.sequences + load.prefill_sequences)
    assert everything.pass_s(load) - host_s == pytest.approx((before_s - host_s) / factor)


@EVERY_MODEL
@FEW
@given(shape=shapes(), more=st.sampled_from(PassLoad._fields), data=st.data())
def test_more_work_never_takes_less_time(
    model: str, shape: Shape, more: str, data: st.DataObject
) -> None:
    """A longer context never does; more tokens may on real kernels, whose tiles have steps."""
    longer = more.endswith(("context_tokens", "pairs", "capped"))
    cost = data.draw(machines_of(model, KERNELS if longer else ("generic",)))
    load = shape.on(cost)
    if cost.layout.lanes > 1:  # one sequence more may fill a lane that was empty
        assume(not more.endswith("sequences"))
    if more.startswith("prefill"):
        assume(load.prefill_sequences)
    assume(load.sequences or more.startswith("prefill"))
    given: Any = getattr(load, more)
    pairs = isinstance(given, tuple)
    grown: Any = tuple((r + 7, p + 7) for r, p in given) if pairs else given + 7
    heavier = load._replace(**{more: grown})
    assert cost.pass_s(heavier) >= cost.pass_s(load) * (1 - 1e-12)


GROWTH = st.tuples(st.floats(0, 32), st.floats(0, 80))
"""KV tokens a pass, and pairs for each of them."""


def check_line(cost: ForwardPass, load: PassLoad, growths: list[tuple[float, float]]) -> None:
    """Every pass of a leap takes what the line says, and the line ends where it must."""
    reads = ((load.context_tokens, load.pairs), *load.capped)
    grown = [(kv, kv * queries) for kv, queries in growths]
    state = tuple((*read, *growth) for read, growth in zip(reads, grown, strict=True))
    first_s, slope_s, limit = cost.line(*load[:3], state)
    assert limit >= 1
    assert first_s == pytest.approx(cost.pass_s(load), rel=1e-12)

    def pass_s(number: int) -> float:
        now = [(r + number * dr, p + number * dp) for r, p, dr, dp in state]
        (context, pairs), *capped = now
        later = load._replace(context_tokens=context, pairs=pairs, capped=tuple(capped))
        return cost.pass_s(later)

    for number in {0, 1, 2, 3, 10, 1000, limit // 2, limit - 1}:
        if number < limit < NO_LIMIT or (limit == NO_LIMIT and number <= 1000):
            assert pass_s(number) == pytest.approx(pass_s(0) + number * slope_s, rel=1e-9)
    if limit < 10**6:
        beyond = 2 * limit + 10
        assert pass_s(beyond) > (pass_s(0) + beyond * slope_s) * (1 + 1e-15)


@EVERY_MODEL
@FEW
@given(shape=shapes(prompts=False), data=st.data())
def test_every_pass_of_a_leap_takes_what_the_line_says(
    model: str, shape: Shape, data: st.DataObject
) -> None:
    cost = data.draw(machines_of(model))
    kinds = 1 + len(cost.reaches)
    growths = data.draw(st.lists(GROWTH, min_size=kinds, max_size=kinds))
    check_line(cost, shape.on(cost), growths)


@given(
    shape=shapes(prompts=False),
    growth=GROWTH,
    verify=st.sampled_from([0.55, 0.02, 0.005]),
    fp8=st.booleans(),
)
def test_the_line_holds_where_attention_turns_compute_bound_with_few_queries(
    shape: Shape, growth: tuple[float, float], verify: float, fp8: bool
) -> None:
    cost = a_cost(verify_efficiency=verify, fp8=fp8)
    check_line(cost, shape.on(cost), [growth])


def test_a_leap_ends_where_attention_turns_from_memory_to_arithmetic() -> None:
    cost = a_cost(verify_efficiency=0.02)
    (rates,) = cost.decode_rates(1)
    # 10,000 KV tokens take as long as `even` pairs; start 50 passes before that balance
    even = rates.token_s * 10_000 / rates.pair_s
    state = ((10_000.0, even - 50 * 1000.0, 0.0, 1000.0),)
    _, slope_s, limit = cost.line(1, 100, 100.0, state)
    assert slope_s == 0.0
    assert limit in {50, 51}  # at the balance itself both lines agree
