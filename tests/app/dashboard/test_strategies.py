"""Every strategy that a scenario file can name is spelt out by knobs, and read back."""

from typing import Any

import pytest

from app.dashboard import denoising, drafters, speculation, strategies
from app.dashboard.strategies import Knobs, decoding_of, kind_of, knobs_of
from sim.decoding import (
    BaseStrategy,
    BlockDiffusion,
    Diffusion,
    Speculative,
    list_acceptance,
    load_acceptance,
)
from sim.errors import InputError
from sim.scenario import load_scenario

CHAIN: dict[str, Any] = {"draft_tokens": 3, "draft": {"work_share": 0.1}}
RATE: dict[str, Any] = {"draft_tokens": 3, "acceptance_rate": 0.7}
DRAFTS: list[dict[str, Any]] = [
    {"kind": "model", "model": "llama-3.2-1b", "weights": "int4", "tensor_parallel": 1},
    {"kind": "eagle", "version": 1, "host_us_per_pass": 210.0},
    {"kind": "eagle", "version": 3, "vocab_size": 32000, "intermediate_size": 12288},
    {"kind": "mtp", "layers": 2, "kv_precision": "fp8"},
    {"kind": "medusa"},
    {"kind": "block", "layers": 5, "intermediate_size": 4096},
    {"kind": "ngram"},
]
STATED: list[dict[str, Any]] = [
    {"survival": [0.8, 0.5, 0.4]},
    {"acceptance_rate": 0.725},
    {"conditional_acceptance": [0.9, 0.8, 0.85]},
    {"tokens_per_pass": {3: 2.79}},
    {"tokens_per_pass": {2: 2.1, 3: 2.29}},
    {"all_or_nothing": {"none": 0.33, "all": 0.34}},
]
DIFFUSIONS: list[dict[str, Any]] = [
    {"cache": "none", "denoise_passes": 8},
    {"cache": "prefix", "block_tokens": 32, "denoise_passes": {"tokens_per_pass": 2.5}},
    {"cache": "dual", "block_tokens": 32, "canvas_tokens": 256, "refresh_every": 4,
     "denoise_passes": {"measured": [8, 9, 12]}},
    {"block_tokens": 32, "early_stop": True, "logits": "all", "stream": "end",
     "batching": "lockstep",
     "denoise_passes": {"table": "llada-8b", "threshold": 0.9, "domain": "gsm8k"}},
]  # fmt: skip


def again(strategy: Speculative | BlockDiffusion | Diffusion) -> Any:
    """Return what the knobs of a strategy mean where no scenario lists it."""
    start = load_scenario("chat-70b-h100")
    knobs = knobs_of(start.with_decoding(strategy))
    assert knobs.strategy == kind_of(strategy)
    return strategies._strategy(knobs)


@pytest.mark.parametrize("draft", DRAFTS, ids=lambda draft: str(draft["kind"]))
def test_every_drafter_is_read_back_with_its_settings(draft: dict[str, Any]) -> None:
    given = Speculative.model_validate({**RATE, "draft": draft})
    assert again(given).draft == given.draft


@pytest.mark.parametrize("stated", STATED, ids=lambda stated: next(iter(stated)))
def test_acceptance_that_is_stated_in_any_way_keeps_its_figures(stated: dict[str, Any]) -> None:
    given = Speculative.model_validate({**CHAIN, **stated})
    assert again(given).survival_by_position() == pytest.approx(
        given.survival_by_position(), rel=1e-5
    )


@pytest.mark.parametrize(
    "more",
    [
        {"tree": {"nodes": 60, "width": 10}},
        {"policy": {"kind": "off_above", "sequences": 48}},
        {"policy": {"kind": "adaptive", "confidence_concentration": 2.5}},
        {"acceptance_scale": 0.8},
    ],
    ids=lambda more: next(iter(more)),
)
def test_trees_policies_and_drift_are_read_back(more: dict[str, Any]) -> None:
    given = Speculative.model_validate({**CHAIN, **RATE, **more})
    found = again(given)
    assert (found.tree, found.policy, found.acceptance_scale) == (
        *(given.tree, given.policy, given.acceptance_scale),
    )


@pytest.mark.parametrize("name", list_acceptance())
def test_every_published_table_gives_the_drafter_that_was_published(name: str) -> None:
    from app.dashboard.speculation_controls import variant

    table = load_acceptance(name)
    served = table.models[0]
    knobs = Knobs(acceptance=name, **variant(table, served))
    found = speculation.strategy_of(knobs)
    assert found.drafting == table.draft
    assert found.draft_tokens == table.draft_tokens
    assert found.tree == table.tree
    # 1 + the sum of survivals is what the table says of its own domain
    row = table.pick(found.domain, found.temperature, found.measured_with)
    if row.tokens_per_pass and table.draft_tokens in row.tokens_per_pass:
        published = row.tokens_per_pass[table.draft_tokens]
        assert found.mean_tokens_per_pass() == pytest.approx(published, rel=1e-6)
    assert table.source in found.basis


@pytest.mark.parametrize("keys", DIFFUSIONS, ids=lambda keys: str(keys["denoise_passes"]))
def test_diffusion_is_read_back_with_its_cache_and_schedule(keys: dict[str, Any]) -> None:
    given = Diffusion.model_validate(keys)
    found = again(given)
    assert found.model_copy(update={"denoise_passes": given.denoise_passes}) == given
    assert found._spread(64) == given._spread(64)


def test_blocks_in_flight_feedback_and_lockstep_are_read_back() -> None:
    given = BlockDiffusion(
        block_tokens=64,
        denoise_passes=16,
        blocks_in_flight=3,
        self_conditioning=True,
        batching="lockstep",
    )
    assert again(given) == given


def test_every_published_speed_can_be_chosen() -> None:
    for label, (_, row) in denoising.rows().items():
        knobs = Knobs(schedule=denoising.PUBLISHED, denoise_row=label)
        found = denoising.block_diffusion_of(knobs)
        # a block of 32 at t tokens a pass takes 32 / t passes on average, and one at least
        assert found._denoise.mean == pytest.approx(max(1.0, 32 / row.tokens_per_pass))


def test_acceptance_has_no_default() -> None:
    start = load_scenario("bench-8b-a100").model_copy(update={"strategies": ()})
    assert knobs_of(start).acceptance == speculation.UNSTATED
    with pytest.raises(InputError, match="has no default"):
        decoding_of(Knobs(strategy=strategies.SPECULATIVE), start, ())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"acceptance": "own list", "acceptance_list": "80, x"}, "percentages with commas"),
        ({"acceptance": "own list", "acceptance_list": "80, 70"}, "2 figures for 3 draft"),
        ({"acceptance": "own tokens per round", "round_tokens": 9.0}, "between 0 and 3"),
        ({"acceptance": "own mixture", "none_percent": 80, "all_percent": 80}, "more than 1"),
        ({"acceptance": "own figures", "tree_nodes": 2}, "not 3 drafts deep"),
        (
            {"acceptance": "own figures", "tree_nodes": 20, "policy": "adaptive"},
            "chains, not trees",
        ),
    ],
)
def test_knobs_that_clash_are_refused_in_one_sentence(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        speculation.strategy_of(Knobs(**changes))
    assert "\n" not in str(refused.value)


def test_every_kind_of_drafter_has_a_name_of_its_own() -> None:
    labels = {drafters.label_of(Knobs(drafter=kind), "plain") for kind in drafters.KINDS}
    assert len(labels) == len(drafters.KINDS)


class _New(BaseStrategy):
    """A strategy that somebody adds, as docs/recipes.md says."""

    name: str = "new"


def test_a_strategy_that_has_no_knobs_yet_is_kept_as_listed() -> None:
    start = load_scenario("chat-70b-h100").model_copy(update={"decoding": _New()})
    knobs = knobs_of(start)
    assert knobs.strategy == strategies.AS_LISTED
    assert decoding_of(knobs, start, ())["name"] == "new"
