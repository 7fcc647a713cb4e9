"""A lane priced by its own load, against a whole batch that is split evenly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cost import ForwardPass
from sim.cost.lane import LanePass, StageLoad
from tests.laws.loads import Shape, machine, shapes

pytestmark = pytest.mark.laws
MODELS = {"llama-3.1-8b": (2, 2, 1, 2), "gpt-oss-20b": (2, 1, 4, 2), "deepseek-v3": (1, 1, 4, 4)}


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=40)
@given(shape=shapes())
def test_like_lanes_take_the_time_of_the_batch_that_they_make_up(model: str, shape: Shape) -> None:
    whole = machine(model, "h200_sxm", MODELS[model])
    lanes, ranks = whole.layout.lanes, whole.layout.attention_data
    every = shape._replace(sequences=shape.sequences * lanes, chunks=shape.chunks * lanes)
    one = LanePass(whole)
    load = shape.on(whole)
    one.other_tokens = (ranks - 1) * (load.positions + load.prefill_tokens)
    host_s = whole.host_s(lanes * (load.sequences + load.prefill_sequences))
    host_s -= whole.host_s(load.sequences + load.prefill_sequences)
    assert one.pass_s(load) + host_s == pytest.approx(whole.pass_s(every.on(whole)), rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
@given(shape=shapes(), others=st.integers(0, 4000))
def test_a_line_begins_with_the_pass_that_it_prolongs(
    model: str, shape: Shape, others: int
) -> None:
    one = LanePass(machine(model, "h200_sxm", MODELS[model]))
    one.other_tokens = others
    load = shape._replace(chunks=0, sequences=max(1, shape.sequences)).on(one)
    reads = ((load.context_tokens, load.pairs), *load.capped)
    growths = tuple((read, pairs, 1.0, 1.0) for read, pairs in reads)
    first_s, slope_s, limit = one.line(
        load.sequences, load.positions, load.logit_positions, growths
    )
    assert first_s == pytest.approx(one.pass_s(load), rel=1e-12)
    assert slope_s >= 0
    assert limit >= 1


def test_stages_hold_their_layers_and_the_last_one_the_head() -> None:
    """80 layers on 4 stages are 20 each; 61 on 4 are 16 at most."""
    for model, stages, share in (("llama-3.1-70b", 4, 20 / 80), ("deepseek-v3", 4, 16 / 61)):
        one = LanePass(machine(model, "h200_sxm", (1, stages, 1, 1)))
        load = Shape(8, 1, 1000.0, 1.0).on(one)
        pass_s, host_s = one.pass_s(load), one.host_s(8)
        head_s = one.dense.logits_s(8.0)
        held = StageLoad(sequences=8, logits=8.0, tokens=8, prompts=0)
        stage_s, slope_s, _ = one.stage(pass_s, 1e-6, held)
        assert slope_s == pytest.approx(1e-6 * share)
        assert stage_s == pytest.approx(
            share * (pass_s - host_s - head_s) + max(host_s, head_s), rel=1e-12
        )
        assert pass_s / stages <= stage_s < pass_s


def test_one_stage_is_the_whole_pass() -> None:
    one = LanePass(machine("llama-3.1-8b", "h200_sxm", (1, 1, 1, 2)))
    load = StageLoad(sequences=8, logits=8.0, tokens=8, prompts=0)
    assert one.stage(0.01, 1e-6, load)[:2] == (0.01, 1e-6)


@pytest.mark.parametrize("layout", [(1, 4, 1, 1), (1, 1, 1, 8), (1, 2, 1, 2)])
@pytest.mark.parametrize("together", [False, True])
def test_a_batch_is_in_a_graph_where_the_pass_of_its_fullest_lane_is(
    layout: tuple[int, int, int, int], *, together: bool
) -> None:
    """Up to 64 tokens a lane start no kernels, however many the batch holds; 65 start them all."""
    plain = machine("llama-3.1-8b", "h200_sxm", layout)
    lanes, ranks = plain.layout.lanes, plain.layout.attention_data
    for chunks, chunk_tokens in ((0, 0), (1, 40)):
        for sequences in (64 - chunk_tokens, 65 - chunk_tokens):
            graphs = {"graph_batch_sizes": (64,), "asynchronous": together}
            graphs["host_s_per_sequence"] = 0.0  # of the whole batch, not of a lane
            more = {"host_s_per_launch": 1e-4, "eager_host_s_per_pass": 2e-3}
            no_launches, whole = under(plain, **graphs), under(plain, **graphs, **more)
            shape = Shape(sequences, 1, 500.0, 1.0, chunks=chunks, chunk_tokens=chunk_tokens)
            every = shape._replace(sequences=sequences * lanes, chunks=chunks * lanes).on(whole)
            one, load = LanePass(whole), shape.on(whole)
            one.other_tokens = (ranks - 1) * (load.positions + load.prefill_tokens)
            pass_s = whole.pass_s(every)
            assert one.pass_s(load) == pytest.approx(pass_s, rel=1e-9)
            parts = {part.name: part.total_s for part in whole.operations(every)}
            assert sum(parts.values()) == pytest.approx(pass_s, rel=1e-12)
            assert ("wait for launches" in parts) == (sequences + chunk_tokens > 64)
            if sequences + chunk_tokens == 64:
                assert pass_s == no_launches.pass_s(every)
            if not chunks:
                growths = ((load.context_tokens, load.pairs, 1.0, 1.0),)
                lane_s, *_ = one.line(*load[:3], growths)
                growths = ((every.context_tokens, every.pairs, 1.0, 1.0),)
                whole_s, *_ = whole.line(*every[:3], growths)
                assert whole_s == pytest.approx(pass_s, rel=1e-12)
                assert lane_s == pytest.approx(whole_s, rel=1e-9)


def under(cost: ForwardPass, **engine: object) -> ForwardPass:
    """Return the same machine with other settings of its engine."""
    changed = cost.engine.model_copy(update=engine)
    return ForwardPass(cost.model, cost.gpu, cost.fitted, changed, cost.deployment)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("launch_s", [1e-7, 8e-6, 2e-5, 1e-3])
def test_a_stage_takes_the_longer_of_its_kernels_and_of_starting_them(
    launch_s: float, *, together: bool
) -> None:
    """Llama-3.1-8B, 8 of 32 layers a stage: each layer has 4 products, 5 small kernels and its
    attention over decodes; with the LM head 321 kernels, a quarter of which a stage starts."""
    plain = machine("llama-3.1-8b", "h200_sxm", (1, 4, 1, 1))
    host_s, kernels = 0.5e-3, 32 * (4 + 5 + 1) + 1
    free = LanePass(under(plain, host_s_per_pass=0.0, host_s_per_sequence=0.0))
    engine: dict[str, object] = {"host_s_per_pass": host_s, "asynchronous": together}
    engine |= {"graph_batch_sizes": (64,), "host_s_per_launch": launch_s}
    engine["host_s_per_sequence"] = 0.0
    one = LanePass(under(plain, **engine))
    load = Shape(200, 1, 500.0, 1.0).on(one)
    gpu_s, head_s = free.pass_s(load), free.dense.logits_s(200.0)
    growths = ((load.context_tokens, load.pairs, 200.0, 200.0),)
    pass_s, slope_s, _ = one.line(*load[:3], growths)
    held = StageLoad(sequences=200, logits=200.0, tokens=200, prompts=0)
    stage_s, *_ = one.stage(pass_s, slope_s, held, one.waits)
    layers_s, starts_s = (gpu_s - head_s) / 4, launch_s * kernels / 4
    first_s = max(layers_s, starts_s + host_s) if together else max(layers_s, starts_s) + host_s
    assert stage_s == pytest.approx(max(first_s, layers_s + head_s, starts_s), rel=1e-9)
    one.note_waits(load)
    assert one.stage(one.pass_s(load), 0.0, held, one.waits)[0] == pytest.approx(stage_s)
