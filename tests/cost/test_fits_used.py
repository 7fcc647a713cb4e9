"""What a pass says that it goes by is what changes its time."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from sim.cost import ForwardPass
from sim.hardware import FittedProfile
from tests.laws.loads import Layout, Shape, allowed_layouts, machine

BUSY = Shape(64, 2, 3000.0, 1.0, chunks=2, chunk_tokens=500, before=100)
MODELS = ["llama-3.1-8b", "deepseek-v3.2", "gpt-oss-120b", "qwen3-next-80b-a3b", "mixtral-8x7b"]
LAYOUTS: list[Layout] = [(1, 1, 1, 1), (2, 1, 1, 1), (1, 2, 1, 1), (2, 1, 4, 2), (2, 1, 1, 2)]
ACROSS_NODES: list[Layout] = [(1, 16, 1, 1), (8, 2, 1, 1), (2, 1, 16, 8), (4, 1, 1, 4)]


def worse(part: Any) -> Any:
    """Return a fit of which every time is longer."""
    names = [name for name in type(part).model_fields if name != "p"]
    values = {name: getattr(part, name) for name in names}
    return part.model_copy(
        update={
            name: value
            if value is None
            else value / 2
            if name.endswith("efficiency")
            else 2 * value + 1e-6
            if name.endswith("_s")
            else value
            for name, value in values.items()
        }
    )


def one_part_worse(fitted: FittedProfile) -> Iterator[tuple[str, FittedProfile]]:
    """Yield the profile with one part worse at a time, by its dotted name."""
    yield "layer_overhead", fitted.model_copy(update={"layer_overhead_s": 1.0})
    for name in FittedProfile.model_fields:
        value = getattr(fitted, name)
        if name == "network":
            for key in type(value).model_fields:
                bad = value.model_copy(update={key: worse(getattr(value, key))})
                yield f"network.{key}", fitted.model_copy(update={name: bad})
        elif isinstance(value, Mapping) and name != "error":
            for key, part in value.items():
                yield (
                    f"{name}.{key}",
                    fitted.model_copy(update={name: {**value, key: worse(part)}}),
                )
        elif isinstance(value, BaseModel):
            yield name, fitted.model_copy(update={name: worse(value)})


@pytest.mark.laws
@pytest.mark.parametrize("layout", LAYOUTS + ACROSS_NODES, ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_a_part_that_is_worse_makes_the_pass_longer_if_and_only_if_it_is_named(
    model: str, layout: Layout
) -> None:
    if layout in LAYOUTS and layout not in allowed_layouts(model):
        pytest.skip("the model has no such layout")
    if layout[2] > 1 and model == "llama-3.1-8b":
        pytest.skip("no experts to spread")
    for weights in ("fp8", "int4"):
        cost = machine(model, "h100_sxm", layout, weights=weights)
        load = BUSY.on(cost)
        before_s, slower = cost.pass_s(load), set()
        for name, fitted in one_part_worse(cost.fitted):
            again = ForwardPass(cost.model, cost.gpu, fitted, cost.engine, cost.deployment)
            after_s = again.pass_s(load)
            assert after_s >= before_s
            if after_s > before_s:
                slower.add(name)
        assert slower == set(cost.fits_used)
