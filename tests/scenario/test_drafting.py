"""Drafters as models of their own: their weights by hand, their memory, and what is refused."""

from typing import Any

import pytest

from sim.cost import even_load
from sim.errors import InputError
from sim.model import load_model
from sim.scenario import Scenario, Serving, resolve

LENGTHS = {"kind": "fixed", "tokens": 100}
BASE: dict[str, Any] = {
    "model": "llama-3.1-8b",
    "hardware": "h100_sxm",
    "workload": {
        "arrivals": {"kind": "closed_loop", "users": 1},
        "input_tokens": LENGTHS,
        "output_tokens": LENGTHS,
    },
}
HIDDEN, MLP, VOCAB = 4096, 14336, 128256
LAYER = HIDDEN * (4096 + 2 * 1024) + 4096 * HIDDEN + 3 * HIDDEN * MLP
"""Matrices of a layer of Llama 3.1 8B: q, k, v, o, and the gated MLP."""


def served(draft: dict[str, Any] | None, tokens: int = 4, **changes: Any) -> Serving:
    decoding: dict[str, Any] = {"name": "autoregressive"}
    if draft is not None:
        decoding = {
            "name": "speculative",
            "draft_tokens": tokens,
            "acceptance_rate": 0.5,
            "draft": draft,
        }
    return resolve(Scenario.model_validate({**BASE, "decoding": decoding, **changes}))


@pytest.mark.parametrize(
    ("draft", "elements"),
    [
        # EAGLE-1: a layer behind 2h -> h; LM head and embeddings are the target's
        ({"kind": "eagle", "version": 1}, LAYER + 2 * HIDDEN**2),
        # EAGLE-3: 3h -> h, q, k and v see 2h, and a head of its own
        (
            {"kind": "eagle", "vocab_size": 32000},
            LAYER + 3 * HIDDEN**2 + HIDDEN * 6144 + 32000 * HIDDEN,
        ),
        ({"kind": "mtp"}, LAYER + 2 * HIDDEN**2),
        ({"kind": "block", "layers": 5}, 5 * LAYER + 2 * HIDDEN**2),
        # Medusa: four heads of h x h and h x V
        ({"kind": "medusa"}, 4 * (HIDDEN**2 + HIDDEN * VOCAB)),
    ],
)
def test_a_drafter_keeps_the_weights_of_its_layers(draft: dict[str, Any], elements: int) -> None:
    memory = served(draft).memory
    assert memory.draft_weight_bytes == pytest.approx(2 * elements, rel=1e-3)


def test_the_mtp_layer_of_deepseek_v3_has_the_parameters_of_the_published_one() -> None:
    published = load_model("deepseek-v3").mtp_parameters
    wide = {"tensor_parallel": 8, "weights": "fp8"}
    serving = served({"kind": "mtp"}, 1, model="deepseek-v3", hardware="h200_sxm", deployment=wide)
    assert serving.drafter is not None
    model = serving.drafter.model
    own = model.language_parameters - model.embedding_elements
    assert own == pytest.approx(published, rel=1e-4)


def test_a_draft_model_brings_its_own_weights_and_kv_in_its_own_precision() -> None:
    alone = served(None).memory
    small = {"kind": "model", "model": "llama-3.2-1b"}
    drafted, quantised = served(small).memory, served({**small, "weights": "fp8"}).memory
    parameters = load_model("llama-3.2-1b").total_parameters
    assert drafted.draft_weight_bytes == pytest.approx(2 * parameters, rel=1e-3)
    head = load_model("llama-3.2-1b").head_elements  # embeddings stay in 16 bits
    assert quantised.draft_weight_bytes == pytest.approx(parameters + head, rel=1e-3)
    # 16 layers of 8 KV heads x 64 beside 32 of 8 x 128: a quarter more per token
    assert drafted.kv_bytes_per_token == pytest.approx(1.25 * alone.kv_bytes_per_token)
    assert drafted.pool_tokens < alone.pool_tokens / 1.25


def test_heads_and_copies_keep_no_kv() -> None:
    alone = served(None).memory
    assert served({"kind": "medusa"}).memory.kv_bytes_per_token == alone.kv_bytes_per_token
    copies = served({"kind": "ngram"})
    assert copies.memory == alone
    assert copies.draft_cost is None


def test_a_drafter_pass_is_never_faster_than_its_bytes() -> None:
    for draft in ({"kind": "eagle"}, {"kind": "model", "model": "llama-3.2-1b"}):
        serving = served(draft)
        assert serving.draft_cost is not None
        drafts_s = serving.draft_cost.pass_s(even_load(serving.draft_cost, 1, 100))
        bandwidth = serving.gpu.memory_bandwidth_bytes_per_s.value
        assert drafts_s > 0.8 * serving.memory.draft_weight_bytes / bandwidth


def test_windows_of_a_drafter_are_breakpoints_of_the_batch_too() -> None:
    serving = served(
        {"kind": "model", "model": "gemma-3-12b"},
        model="gemma-3-27b",
        deployment={"weights": "fp8"},
    )
    assert serving.draft_cost is not None
    assert serving.cost.reaches == serving.draft_cost.reaches == (1024,)
    serving = served({"kind": "eagle"})
    assert serving.cost.reaches == ()


@pytest.mark.parametrize(
    ("draft", "changes", "says"),
    [
        ({"kind": "model", "model": "qwen3-0.6b"}, {}, "vocabulary of 151,936 tokens"),
        ({"kind": "model", "model": "llama-3.2-1bb"}, {}, "no model named"),
        ({"kind": "eagle"}, {"model": "mixtral-8x7b"}, "give the width of the drafter's MLP"),
        ({"kind": "eagle", "vocab_size": 500_000}, {}, "use 128,256 at most"),
        ({"kind": "eagle", "tensor_parallel": 2}, {}, "more than the 1 that share"),
        (
            {"kind": "model", "model": "llama-3.2-1b"},
            {"deployment": {"max_batched_tokens": 4}},
            "more than the budget of 4",
        ),
    ],
)
def test_drafters_that_do_not_go_with_their_target_are_refused(
    draft: dict[str, Any], changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        served(draft, **changes)


def test_a_drafter_may_use_fewer_gpus_than_its_target() -> None:
    wide = {"tensor_parallel": 4}
    all_four = served({"kind": "eagle"}, deployment=wide).memory
    alone = served({"kind": "eagle", "tensor_parallel": 1}, deployment=wide).memory
    assert alone.draft_weight_bytes == pytest.approx(4 * all_four.draft_weight_bytes, rel=1e-3)
