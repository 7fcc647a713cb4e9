"""`paretoken explain`: one pass, operation by operation, against counts made by hand."""

import json
from typing import Any

import pytest

# Llama-3.1-8B: 32 layers, width 4096, 32 heads and 8 KV heads of 128, MLP 14336.
LAYERS, WIDTH, HEADS, KV_HEADS, HEAD, MLP = 32, 4096, 32, 8, 128, 14336


@pytest.fixture
def explained(paretoken: Any) -> Any:
    answered = paretoken("explain", "small.yaml", "--batch", "16", "--context", "1000", "--json")
    assert (answered.code, answered.err) == (0, "")
    return json.loads(answered.out)


def operation(explained: Any, name: str) -> Any:
    return next(op for op in explained["decode_pass"]["operations"] if op["name"] == name)


def test_the_products_of_a_pass_take_two_flop_per_weight_and_token(explained: Any) -> None:
    qkv = 2 * 16 * WIDTH * (HEADS + 2 * KV_HEADS) * HEAD * LAYERS
    assert operation(explained, "qkv projection")["flop"] == pytest.approx(qkv)
    gate_and_up = 2 * 16 * WIDTH * 2 * MLP * LAYERS
    assert operation(explained, "gate and up projection")["flop"] == pytest.approx(gate_and_up)


def test_attention_reads_the_keys_and_values_of_every_sequence(explained: Any) -> None:
    kv = 16 * 1000 * 2 * KV_HEADS * HEAD * LAYERS * 2  # bf16
    assert operation(explained, "decode attention")["bytes"] == pytest.approx(kv, rel=0.01)


def test_shares_add_up_and_times_to_the_pass(explained: Any) -> None:
    for name in ("decode_pass", "prefill_pass"):
        operations = explained[name]["operations"]
        assert sum(op["share"] for op in operations) == pytest.approx(1)
        assert sum(op["ms"] for op in operations) == pytest.approx(explained[name]["total_ms"])


def test_the_ridge_lies_where_a_larger_batch_turns_compute_bound(paretoken: Any) -> None:
    at = ("explain", "small.yaml", "--context", "1", "--json")
    ridge = json.loads(paretoken(*at).out)["ridge_tokens_per_pass"]
    bounds = {}
    for batch in (ridge // 2, ridge * 2):
        document = json.loads(paretoken(*at, "--batch", str(batch)).out)
        bounds[batch] = operation(document, "gate and up projection")["bound"]
    assert list(bounds.values()) == ["memory", "compute"]


def test_a_pass_has_no_price(paretoken: Any) -> None:
    """Runpod's list has no GB200."""
    listed = ("--set", "prices={list: runpod, term: on_demand}", "--set", "hardware=gb200")
    assert paretoken("run", "small.yaml", *listed).code == 2
    answered = paretoken("explain", "small.yaml", *listed)
    assert (answered.code, answered.err) == (0, "")


def test_a_drafter_has_its_own_row_and_counts_in_the_pass(paretoken: Any) -> None:
    draft = "{name: speculative, draft_tokens: 2, survival: [0.8, 0.6], draft: {work_share: 0.1}}"
    options = ("--set", f"decoding={draft}", "--batch", "8")
    document = json.loads(paretoken("explain", "small.yaml", *options, "--json").out)
    assert document["decode_pass"]["positions"] == 8 * 3
    operations = sum(op["ms"] for op in document["decode_pass"]["operations"])
    parts = operations + document["decode_pass"]["draft_ms"]
    assert document["decode_pass"]["total_ms"] == pytest.approx(parts)
    assert "drafter" in paretoken("explain", "small.yaml", *options).out


def test_the_page_holds_both_passes_the_ridge_and_the_memory(paretoken: Any) -> None:
    answered = paretoken("explain", "small.yaml")
    assert answered.out.startswith("A decode pass of llama-3.1-8b on 1 × H100 takes ")
    for words in ("One pass that decodes", "The prefill of one prompt", "Memory of each GPU"):
        assert words in answered.out
    assert max(len(line) for line in answered.out.splitlines()) <= 80


def test_the_typical_batch_follows_the_load(paretoken: Any) -> None:
    sizes = []
    for rate in (2, 20):
        change = ("--set", f"workload.arrivals.requests_per_s={rate}", "--json")
        sizes.append(json.loads(paretoken("explain", "small.yaml", *change).out)["sequences"])
    assert sizes[0] < sizes[1]


def test_a_trace_and_a_closed_loop_have_a_typical_batch_as_well(
    paretoken: Any, tmp_path: Any
) -> None:
    rows = "".join(f"{index / 10},300,40\n" for index in range(50))
    (tmp_path / "t.csv").write_text(f"arrival_s,input_tokens,output_tokens\n{rows}", "utf-8")
    trace = "workload={arrivals: {kind: trace, path: t.csv}}"
    loop = "workload.arrivals={kind: closed_loop, users: 8}"
    for change in (trace, loop):
        assert paretoken("explain", "small.yaml", "--set", change).code == 0


def test_a_batch_that_the_kv_pool_does_not_hold_is_said_to_be_one(paretoken: Any) -> None:
    # 100,000 tokens of 128 KiB are 13 GB: an H100 of 80 GB holds no more than four beside 16 GB
    at = ("explain", "small.yaml", "--context", "100000", "--batch")
    assert "KV full" not in paretoken(*at, "2").out
    answered = paretoken(*at, "100000")
    words = " ".join(answered.out.split())
    assert "KV full: the pool of a replica holds 4 sequences of 100,000 tokens" in words
    document = json.loads(paretoken(*at, "5", "--json").out)
    assert (document["kv_full"], document["most_sequences"]) == (True, 4)


def test_the_sentence_of_architectures_is_about_a_point_at_which_both_fit(paretoken: Any) -> None:
    # 405B in bf16 leaves no room on 8 x H200 for 64 sequences of 32,000 tokens (16 GB each)
    models = ("--model", "deepseek-v3", "--model", "llama-3.1-405b", "--hardware", "h200_sxm")
    at = ("--tensor-parallel", "8", "--context", "1000,32000", "--batch", "1,64")
    finding = json.loads(paretoken("explain", *models, *at, "--json").out)["finding"]
    assert finding.startswith(("At 1,000 tokens and batch 64", "At 32,000 tokens and batch 1,"))
    # latent: 61 layers of 576 numbers, on each rank whole; 405B: 126 of 2 x 8 x 128, an eighth
    assert "reads 7.3× less cache per token" in finding
    assert "(counted once for the model; on each GPU 1.1× more)" in finding
    assert "neither" not in finding
