"""The quick prices of the engine are those of a pass, to the bit."""

from itertools import product

import pytest

from sim.cost import ForwardPass, quick_pass
from sim.hardware import list_engines, load_engine
from sim.model import list_models
from tests.laws.building import a_cost
from tests.laws.loads import Shape, machine

ONE_LANE = (1, 1, 1, 1)
SHAPES = [
    Shape(1, 1, 700.0, 1.0),
    Shape(200, 4, 300.5, 0.25),
    Shape(3, 1, 90.0, 1.0, chunks=1, chunk_tokens=512),
    Shape(64, 33, 20_000.0, 1.0, chunks=1, chunk_tokens=100, before=3000),
    Shape(30, 8, 2_000.0, 0.0, chunks=3, chunk_tokens=700),
    Shape(0, 0, 0.0, 0.0, chunks=1, chunk_tokens=512),
    Shape(0, 0, 0.0, 0.0, chunks=2, chunk_tokens=512, before=64),
]
GROWTHS = [(1.0, 1.0), (2.4, 9.6), (0.0, 0.0), (0.1, 500.0)]


def under(engine: str, model: str) -> ForwardPass:
    """Return a machine of one GPU with the host of an engine."""
    cost = machine(model, "h200_sxm", ONE_LANE)
    return ForwardPass(cost.model, cost.gpu, cost.fitted, load_engine(engine), cost.deployment)


def quick_costs() -> list[tuple[str, str]]:
    return [
        (engine, model)
        for engine, model in product(list_engines(), list_models())
        if quick_pass(under(engine, model)) is not None
    ]


@pytest.mark.parametrize(("engine", "model"), quick_costs())
def test_a_pass_its_prompts_alone_and_its_batch_alone(engine: str, model: str) -> None:
    cost = under(engine, model)
    quick = quick_pass(cost)
    assert quick is not None
    for shape in [*SHAPES, *SHAPES]:  # the second time from memory
        load = shape.on(cost)
        whole_s, prompts_s, batch_s = quick.mixed(*load[:9])
        assert whole_s == cost.seconds(*load[:9])
        assert prompts_s == cost.seconds(0, 0, 0.0, 0.0, 0.0, *load[5:9])
        assert batch_s == (cost.seconds(*load[:5]) if load.sequences else 0.0)


@pytest.mark.parametrize(("engine", "model"), quick_costs())
def test_a_line_of_decode_passes(engine: str, model: str) -> None:
    cost = under(engine, model)
    quick = quick_pass(cost)
    assert quick is not None
    for shape, (growth, more) in product(SHAPES[:2], GROWTHS):
        count, positions, logits, read, pairs = shape.on(cost)[:5]
        line = quick.line(count, positions, logits, read, pairs, growth, more)
        assert line == cost.line(count, positions, logits, ((read, pairs, growth, more),))


def test_models_of_one_kind_of_attention_are_quick_on_one_lane_and_others_are_not() -> None:
    found = {model for _, model in quick_costs()}
    assert {"llama-3.1-8b", "llama-3.1-70b", "qwen3-32b"} <= found
    assert "gpt-oss-20b" not in found  # every other layer looks back 128 tokens
    assert quick_pass(a_cost(pipeline_parallel=2)) is None
