"""Quality is looked up: what nobody published stays unknown."""

from pathlib import Path
from typing import Any

import pytest

from sim.model import list_models, load_model
from sim.quality import UNKNOWN, all_scores, in_short, quality_files, scores_of
from sim.scenario import Scenario, build_scenario


def scenario(model: str, decoding: dict[str, Any], **deployment: Any) -> Scenario:
    content = {
        "model": model,
        "hardware": "h100_sxm",
        "deployment": deployment,
        "decoding": decoding,
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": 1},
            "input_tokens": {"kind": "fixed", "tokens": 100},
            "output_tokens": {"kind": "fixed", "tokens": 100},
        },
    }

    return build_scenario(content, where="test", folder=Path())


def found(model: str, decoding: dict[str, Any], **deployment: Any) -> dict[str, float]:
    asked = scenario(model, decoding, **deployment)
    return {s.row.benchmark: s.row.score for s in scores_of(asked, load_model(asked.model))}


AUTO = {"name": "autoregressive"}
LLADA = {"name": "diffusion", "block_tokens": 32, "canvas_tokens": 256}


def test_every_file_names_its_source_and_its_models() -> None:
    for file in quality_files().values():
        assert file.source
        assert file.rows
    assert {score.row.model for score in all_scores()} & set(list_models())


def test_scores_are_those_of_the_precision_that_is_served() -> None:
    assert found("qwen3-32b", AUTO, weights="bf16")["GSM8K"] == 74.53
    assert found("qwen3-32b", AUTO, weights="fp8")["GSM8K"] == 70.43
    assert found("qwen3-32b", AUTO, weights="mxfp4") == {}
    assert found("qwen3-32b", AUTO, weights="fp8", kv_precision="fp8") == {}


def test_a_score_stands_beside_that_of_the_same_model_in_16_bits() -> None:
    asked = scenario("qwen3-32b", AUTO, weights="fp8")
    by_name = {s.row.benchmark: s for s in scores_of(asked, load_model("qwen3-32b"))}
    assert by_name["GSM8K"].plain == 74.53
    assert in_short(by_name.values()).endswith("GSM8K 70.43 (74.53 plain)")


def test_diffusion_is_found_by_cache_canvas_and_threshold() -> None:
    row = {"table": "llada-8b", "threshold": 0.9, "domain": "gsm8k"}
    both = found("llada-8b", {**LLADA, "cache": "prefix", "denoise_passes": row})
    assert both["GSM8K 5-shot"] == 78.5  # arXiv:2505.22618, table 1
    assert found("llada-8b", {**LLADA, "denoise_passes": 32})["GSM8K 5-shot"] == 79.3
    assert found("llada-8b", {**LLADA, "denoise_passes": 16}) == {}
    assert found("llada-8b", {**LLADA, "cache": "dual", "denoise_passes": 32}) == {}


def test_exact_verification_leaves_answers_as_they_are_and_a_what_if_has_none() -> None:
    chain = {
        "name": "speculative",
        "draft_tokens": 1,
        "survival": [0.7],
        "draft": {"work_share": 0.1},
    }
    assert found("qwen3-32b", chain, weights="bf16")["GSM8K"] == 74.53
    blocks = {"name": "block_diffusion", "block_tokens": 8, "denoise_passes": 4, "what_if": True}
    assert found("qwen3-32b", blocks, weights="bf16") == {}
    assert in_short([]) == UNKNOWN


@pytest.mark.parametrize("name", sorted(quality_files()))
def test_scores_are_percentages(name: str) -> None:
    assert all(0 < row.score <= 100 for row in quality_files()[name].rows)
