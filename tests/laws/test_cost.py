"""Laws of the cost model, on every model and GPU of the catalog, at any load."""

from functools import cache
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sim.cost import NO_LIMIT, ForwardPass, PassLoad
from sim.deployment import BYTES_PER_ELEMENT, Deployment, Precision
from sim.hardware import list_gpus, load_engine, load_fitted, load_gpu
from sim.model import list_models, load_model
from tests.laws.building import a_cost
from tests.laws.machines import LINK, RATES, faster, lossless

pytestmark = pytest.mark.laws
EVERY_PAIR = pytest.mark.parametrize(("model", "gpu"), list(product(list_models(), list_gpus())))
FEW = settings(max_examples=12)  # for each model on each GPU
WIDTHS: tuple[Precision, ...] = ("bf16", "fp8")


@cache
def cost_of(
    model: str, gpu: str, ranks: int, weights: Precision, kv: Precision, *, loss: bool
) -> ForwardPass:
    profile, engine = load_gpu(gpu), load_engine("generic")
    deployment = Deployment(tensor_parallel=ranks, weights=weights, kv_precision=kv)
    fitted = load_fitted(profile, "generic")
    host = engine.model_copy(update={"host_s_per_pass": 1e-3, "host_s_per_sequence": 1e-6})
    cost = ForwardPass(load_model(model), profile, fitted, host, deployment)
    return cost if loss else lossless(cost)


@st.composite
def costs_of(draw: st.DrawFn, model: str, gpu: str, *, lossy: bool | None = None) -> ForwardPass:
    ranks, weights = draw(st.sampled_from([1, 2, 4, 8])), draw(st.sampled_from(WIDTHS))
    assume(load_model(model).heads % ranks == 0)
    loss = draw(st.booleans()) if lossy is None else lossy
    return cost_of(model, gpu, ranks, weights, draw(st.sampled_from(WIDTHS)), loss=loss)


@st.composite
def loads(draw: st.DrawFn, *, prompts: bool = True) -> PassLoad:
    """Return a pass of decoding sequences, prompt chunks, or both."""
    sequences = draw(st.integers(0 if prompts else 1, 300))
    queries, context = draw(st.integers(1, 64)), draw(st.floats(0, 50_000))
    positions = sequences * queries
    decode = PassLoad(
        sequences,
        positions,
        positions * draw(st.floats(0, 1)),
        sequences * (context + queries),
        positions * context + sequences * queries * (queries + 1) / 2,
    )
    chunks = draw(st.integers(0 if sequences else 1, 4)) if prompts else 0
    tokens, before = draw(st.integers(1, 4000)), draw(st.integers(0, 20_000))
    if not chunks:
        return decode
    return decode._replace(
        prefill_sequences=chunks,
        prefill_tokens=chunks * tokens,
        prefill_context_tokens=float(chunks * (before + tokens)),
        prefill_pairs=chunks * (tokens * before + tokens * (tokens + 1) / 2),
    )


@EVERY_PAIR
@FEW
@given(data=st.data(), load=loads())
def test_no_pass_is_faster_than_its_bytes_and_its_flop_on_the_peaks(
    model: str, gpu: str, data: st.DataObject, load: PassLoad
) -> None:
    cost = data.draw(costs_of(model, gpu))
    facts, layout, peak = cost.model, cost.deployment, cost.gpu.bf16_dense_flop_per_s.value
    fast = cost.gpu.peak_flop_per_s(layout.weights) or peak
    tokens, pairs = load.positions + load.prefill_tokens, load.pairs + load.prefill_pairs
    layers = facts.layers * facts.layer_weight_elements
    logits = load.logit_positions + load.prefill_sequences
    compute_s = (
        2 * layers * tokens / fast
        + 2 * facts.head_elements * logits / peak
        + 4 * facts.layers * facts.heads * facts.head_dim * pairs / peak
    ) / cost.ranks
    weight_bytes = layers * BYTES_PER_ELEMENT[layout.weights]
    weight_bytes += facts.head_elements * 2 if logits else 0
    kv_bytes = facts.kv_bytes_per_token(BYTES_PER_ELEMENT[layout.kv_precision])
    moved = weight_bytes + kv_bytes * load.context_tokens
    memory_s = moved / cost.gpu.memory_bandwidth_bytes_per_s.value / cost.ranks
    assert cost.pass_s(load) >= max(compute_s, memory_s) * (1 - 1e-12)


@EVERY_PAIR
@FEW
@given(data=st.data(), load=loads())
def test_a_pass_is_the_sum_of_its_operations_and_none_beats_the_peaks(
    model: str, gpu: str, data: st.DataObject, load: PassLoad
) -> None:
    cost = data.draw(costs_of(model, gpu))
    operations = cost.operations(load)
    total_s = sum(operation.count * operation.seconds for operation in operations)
    assert cost.pass_s(load) == pytest.approx(total_s, rel=1e-12)
    fast = max(cost.gpu.peak_flop_per_s(width) or 0.0 for width in WIDTHS)
    for part in operations:
        assert part.total_s == part.count * part.seconds
        if part.kind == "kernel":
            moved_s = part.bytes_moved / cost.gpu.memory_bandwidth_bytes_per_s.value
            assert part.seconds >= max(moved_s, part.flop / fast) * (1 - 1e-12), part.name


@EVERY_PAIR
@FEW
@given(data=st.data(), load=loads(), factor=st.floats(1.01, 10))
def test_on_peaks_more_bandwidth_or_flop_never_costs_time(
    model: str, gpu: str, data: st.DataObject, load: PassLoad, factor: float
) -> None:
    cost = data.draw(costs_of(model, gpu, lossy=False))
    before_s = cost.pass_s(load)
    for figure in (*RATES, LINK):
        assert faster(cost, figure, factor).pass_s(load) <= before_s * (1 + 1e-12), figure
    everything = cost
    for figure in (*RATES, LINK):
        everything = faster(everything, figure, factor)
    host_s = cost.host_s(load.sequences + load.prefill_sequences)
    assert everything.pass_s(load) - host_s == pytest.approx((before_s - host_s) / factor)


@given(load=loads(), more=st.sampled_from(PassLoad._fields), data=st.data())
def test_more_work_never_takes_less_time(load: PassLoad, more: str, data: st.DataObject) -> None:
    cost = data.draw(costs_of("llama-3.1-8b", "h100_sxm"))
    if more.startswith("prefill"):
        assume(load.prefill_sequences)
    assume(load.sequences or more.startswith("prefill"))
    heavier = load._replace(**{more: getattr(load, more) + 7})
    assert cost.pass_s(heavier) >= cost.pass_s(load) * (1 - 1e-12)


@given(
    load=loads(prompts=False),
    growth=st.floats(0, 32),
    queries=st.floats(0, 80),
    verify=st.sampled_from([0.55, 0.02, 0.005]),
    fp8=st.booleans(),
)
def test_every_pass_of_a_leap_takes_what_the_line_says(
    load: PassLoad, growth: float, queries: float, verify: float, fp8: bool
) -> None:
    cost = a_cost(verify_efficiency=verify, fp8=fp8)
    pairs_growth = growth * queries
    slope_s, limit = cost.slope(load.context_tokens, load.pairs, growth, pairs_growth)
    assert limit >= 1

    def pass_s(number: int) -> float:
        context = load.context_tokens + number * growth
        return cost.pass_s(
            load._replace(context_tokens=context, pairs=load.pairs + number * pairs_growth)
        )

    for number in {0, 1, 2, 3, 10, 1000, limit // 2, limit - 1}:
        if number < limit < NO_LIMIT or (limit == NO_LIMIT and number <= 1000):
            assert pass_s(number) == pytest.approx(pass_s(0) + number * slope_s, rel=1e-9)
    if limit < 10**6:  # and the line ends where it must
        beyond = 2 * limit + 10
        assert pass_s(beyond) > (pass_s(0) + beyond * slope_s) * (1 + 1e-15)


def test_a_leap_ends_where_attention_turns_from_memory_to_arithmetic() -> None:
    cost = a_cost(verify_efficiency=0.02)
    rates = cost.decode_rates
    # 10,000 KV tokens take as long as `even` pairs; start 50 passes before that balance
    even = rates.token_s * 10_000 / rates.pair_s
    load = PassLoad(1, 100, 100.0, 10_000.0, even - 50 * 1000.0)
    slope_s, limit = cost.slope(load.context_tokens, load.pairs, 0.0, 1000.0)
    assert slope_s == 0.0
    assert limit in {50, 51}  # at the balance itself both lines agree
