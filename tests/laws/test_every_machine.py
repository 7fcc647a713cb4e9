"""Every model on every GPU, in every format and layout in turn: no operation beats the peaks."""

from collections.abc import Iterator
from itertools import islice, product

import pytest

from sim.cost import ForwardPass, PassLoad
from sim.hardware import list_gpus
from sim.model import list_models
from tests.laws.loads import WEIGHTS, Shape, allowed_layouts, machine

pytestmark = pytest.mark.laws
SHAPES = (
    Shape(1, 1, 1000.0, 1.0),
    Shape(256, 4, 300.0, 0.5),
    Shape(30, 1, 20_000.0, 1.0, chunks=2, chunk_tokens=1500, before=4000),
)
EACH = 2
"""Machines of each GPU."""


def machines(model: str) -> Iterator[ForwardPass]:
    """Go through the GPUs, and meanwhile through formats and layouts at another pace."""
    combinations = list(product(WEIGHTS, allowed_layouts(model), ("bf16", "fp8"), (0.0, 0.5)))
    stride = next(n for n in (101, 103, 107) if len(combinations) % n)
    for number, gpu in enumerate(list_gpus() * EACH):
        at = number * stride % len(combinations)
        weights, layout, kv, skew = combinations[at]
        yield machine(model, gpu, layout, weights=weights, kv=kv, skew=skew)


def check(cost: ForwardPass, load: PassLoad) -> None:
    operations = cost.operations(load)
    total_s = sum(part.count * part.seconds for part in operations)
    assert cost.pass_s(load) == pytest.approx(total_s, rel=1e-12)
    bandwidth = cost.gpu.memory_bandwidth_bytes_per_s.value
    for part in operations:
        assert part.total_s == part.count * part.seconds
        if part.kind == "kernel":
            floor_s = max(part.bytes_moved / bandwidth, part.flop / part.peak_flop_per_s)
            assert part.seconds >= floor_s * (1 - 1e-12), part.name
            assert 0 <= part.activation_bytes <= part.bytes_moved, part.name
            assert part.fixed_s <= part.seconds, part.name


@pytest.mark.parametrize("model", list_models())
def test_no_operation_of_any_machine_is_faster_than_its_bytes_and_its_flop(model: str) -> None:
    for cost in machines(model):
        for shape in SHAPES:
            check(cost, shape.on(cost))


@pytest.mark.parametrize("model", list_models())
def test_a_line_begins_with_the_pass_itself(model: str) -> None:
    for cost in islice(machines(model), len(list_gpus())):
        for shape in SHAPES[:2]:
            load = shape.on(cost)
            reads = ((load.context_tokens, load.pairs), *load.capped)
            first_s, slope_s, limit = cost.line(*load[:3], tuple((*r, 0.0, 0.0) for r in reads))
            assert first_s == pytest.approx(cost.pass_s(load), rel=1e-12)
            assert slope_s == 0
            assert limit > 1
