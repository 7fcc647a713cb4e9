"""What does not fit says how much is missing, and what it proposes really serves."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from sim.errors import DoesNotFitError
from sim.model import list_models
from sim.scenario import Scenario, resolve
from tests.laws.loads import gpu_of, model_of

GPUS = ("l4", "a100_pcie_40gb", "h100_nvl", "h100_sxm", "b200_sxm", "mi355x")
GIVEN: tuple[dict[str, Any], ...] = (
    {"weights": "checkpoint"},
    {"weights": "fp8", "memory_fraction": 0.3},
    {"weights": "bf16", "memory_fraction": 0.15},
)


def scenario(model: str, gpu: str, **deployment: Any) -> Scenario:
    return Scenario.model_validate(
        {
            "model": model,
            "hardware": gpu,
            "deployment": deployment,
            "decoding": {"name": "autoregressive"}
            if "autoregressive" in model_of(model).decoding
            else {"name": "block_diffusion", "block_tokens": 32, "denoise_passes": 8}
            | {"what_if": True},
            "workload": {
                "arrivals": {"kind": "poisson", "requests_per_s": 1},
                "input_tokens": {"kind": "fixed", "tokens": 100},
                "output_tokens": {"kind": "fixed", "tokens": 50},
            },
        }
    )


def proposals(error: DoesNotFitError) -> Iterator[dict[str, Any]]:
    """Changes of the deployment that a message names, one after the other."""
    _, _, remedy = str(error).partition("; ")
    for way in remedy.split(" or "):
        changes = dict(re.findall(r"`deployment\.(\w+): (\w+)`", way))
        if changes:
            yield changes
        else:
            assert way == "choose a GPU with more memory"


@pytest.mark.parametrize("model", list_models())
def test_what_is_proposed_fits_and_is_allowed(model: str) -> None:
    for gpu, given in product(GPUS, GIVEN):
        try:
            resolve(scenario(model, gpu, **given))
        except DoesNotFitError as missing:
            error = missing
        else:
            continue
        assert error.need_bytes > error.have_bytes
        for changes in proposals(error):
            resolve(scenario(model, gpu, **{**given, **changes}))


@pytest.mark.truth
def test_what_is_missing_is_counted_in_bytes() -> None:
    """Llama 3.1 70B in bf16 on one H100: 141.1 GB, 1.5 GB of the engine's, and a block of KV."""
    with pytest.raises(DoesNotFitError) as caught:
        resolve(scenario("llama-3.1-70b", "h100_sxm", weights="bf16"))
    need = 2 * 70_553_706_496 + 1.5e9 + 16 * 327_680
    assert caught.value.need_bytes == pytest.approx(need)
    memory = gpu_of("h100_sxm").memory_bytes.value
    assert caught.value.have_bytes == pytest.approx(0.9 * memory)
    assert list(proposals(caught.value)) == [{"weights": "fp8"}, {"tensor_parallel": "2"}]
