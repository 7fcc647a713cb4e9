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


def test_a_checkpoint_is_proposed_as_it_is_published() -> None:
    """MiniMax-M2.5 has 229 B weights: 460 GB in 16 bits, 230 GB as published, in fp8_block."""
    with pytest.raises(DoesNotFitError, match=r"\(bf16, published as fp8_block\)") as caught:
        resolve(scenario("minimax-m2.5", "h200_sxm", weights="bf16", tensor_parallel=2))
    assert next(proposals(caught.value)) == {"weights": "checkpoint"}
    with pytest.raises(DoesNotFitError, match=r"\(as published, fp8_block\)"):
        resolve(scenario("minimax-m2.5", "h200_sxm", weights="checkpoint"))


@pytest.mark.parametrize(
    ("draft", "gigabytes"),
    [
        # 70.55 B weights in bf16; of 8.03 B weights in bf16, as much again
        ({"kind": "model", "model": "llama-3.1-70b"}, "141.1"),
        ({"work_share": 1.0}, "16.1"),
    ],
)
def test_the_share_of_a_drafter_is_named(draft: dict[str, Any], gigabytes: str) -> None:
    speculative = {
        "name": "speculative",
        "draft_tokens": 2,
        "survival": [0.7, 0.5],
        "draft": draft,
    }
    asked = scenario("llama-3.1-8b", "h100_sxm", memory_fraction=0.3)
    changes = {"decoding": speculative}
    content = asked.model_dump(mode="json", by_alias=True, exclude_none=True) | changes
    with pytest.raises(DoesNotFitError) as caught:
        resolve(Scenario.model_validate(content))
    assert f" GB per GPU, {gigabytes} of them for its drafter, but " in str(caught.value)
    assert "; choose a smaller drafter or " in str(caught.value)
