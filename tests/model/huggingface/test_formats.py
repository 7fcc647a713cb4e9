"""Which part of a checkpoint is stored in which format, from every quantiser people use."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.model import WeightFormat, load_model

CONFIG: dict[str, object] = {
    "model_type": "glm4_moe",
    "hidden_size": 8,
    "intermediate_size": 10,
    "max_position_embeddings": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "first_k_dense_replace": 1,
    "n_routed_experts": 6,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 5,
    "torch_dtype": "bfloat16",
    "vocab_size": 100,
}
"""Three layers with experts after a dense one: every part but a recurrent one."""
PARTS = ("attention", "attention_output", "dense_mlp", "shared_experts", "experts")
Read = Callable[..., WeightFormat]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def from_config(
        quantisation: dict[str, object] | None,
        side: tuple[str, dict[str, object]] | None = None,
        **changes: object,
    ) -> WeightFormat:
        path = tmp_path / "config.json"
        config = {**CONFIG, **changes}
        if quantisation is not None:
            config["quantization_config"] = quantisation
        path.write_text(json.dumps(config))
        if side is not None:
            (tmp_path / side[0]).write_text(json.dumps(side[1]))
        return load_model(path).weights

    return from_config


def parts(weights: WeightFormat) -> tuple[str, ...]:
    return tuple(weights.of(part) for part in PARTS)  # type: ignore[arg-type]


def test_a_checkpoint_that_is_not_quantised_is_as_its_dtype_says(read: Read) -> None:
    assert parts(read(None)) == ("bf16",) * 5
    assert read(None, torch_dtype="float16").head == "fp16"
    assert read(None, torch_dtype="float32").layers == "bf16"


INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True}
FP8 = {"num_bits": 8, "type": "float", "strategy": "channel"}
NVFP4 = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}


def compressed(*groups: tuple[dict[str, object], list[str]], **more: object) -> dict[str, object]:
    config_groups = {
        f"group_{index}": {"targets": targets, "weights": weights, "input_activations": None}
        for index, (weights, targets) in enumerate(groups)
    }
    return {"quant_method": "compressed-tensors", "config_groups": config_groups, **more}


@pytest.mark.parametrize(
    ("quantisation", "expected"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, ("fp8_block",) * 5),
        ({"quant_method": "fp8", "modules_to_not_convert": ["gate", "lm_head"]}, ("fp8",) * 5),
        (
            {"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["model.layers.*.self_attn"]},
            ("bf16", "bf16", "fp8", "fp8", "fp8"),
        ),
        (
            {
                "quant_method": "awq",
                "bits": 4,
                "group_size": 128,
                "modules_to_not_convert": ["self_attn", "shared_experts", "mlp.gate"],
            },
            ("bf16", "bf16", "int4", "bf16", "int4"),
        ),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, ("int8",) * 5),
        (
            {"quant_method": "gptq", "bits": 4, "dynamic": {"-:.*self_attn.*": {}}},
            ("bf16", "bf16", "int4", "int4", "int4"),
        ),
        (
            compressed(
                (INT4, ["Linear"]),
                ignore=[
                    "lm_head",
                    "re:.*self_attn.*",
                    "re:.*shared_experts.*",
                    "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
                ],
            ),
            ("bf16", "bf16", "bf16", "bf16", "int4"),
        ),
        (
            compressed((FP8, ["re:.*self_attn.*"]), (NVFP4, ["re:.*mlp.experts.*"])),
            ("fp8", "fp8", "bf16", "bf16", "nvfp4"),
        ),
        ({"quant_method": "mxfp4"}, ("bf16", "bf16", "bf16", "bf16", "mxfp4")),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, ("int4",) * 5),
        (
            {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["*self_attn*"]},
            ("bf16", "bf16", "nvfp4", "nvfp4", "nvfp4"),
        ),
        (
            {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}},
            ("mxfp4",) * 5,
        ),
    ],
)
def test_each_quantiser_is_understood(
    read: Read, quantisation: dict[str, object], expected: tuple[str, ...]
) -> None:
    weights = read(quantisation)
    assert parts(weights) == expected
    assert weights.embeddings == "bf16"
    assert weights.mixed == ()


def test_groups_zero_points_and_activations_are_told(read: Read) -> None:
    awq = read({"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True})
    assert (awq.group_elements, awq.zero_points, awq.weight_only) == (64, True, True)
    gptq = read({"quant_method": "gptq", "bits": 4, "group_size": -1})
    assert (gptq.group_elements, gptq.zero_points, gptq.weight_only) == (None, False, True)
    fp8 = read({"quant_method": "fp8"})
    assert (fp8.group_elements, fp8.weight_only, fp8.kv) == (None, False, None)
    nvfp4 = read({"quant_method": "modelopt", "quant_algo": "NVFP4"})
    assert (nvfp4.group_elements, nvfp4.weight_only) == (16, False)
    assert read(compressed((INT4, ["Linear"]))).group_elements == 32


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "hf_quant_config.json",
            {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}},
            ("fp8", "fp8", "fp8"),
        ),
        (
            "hf_quant_config.json",
            {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}},
            ("nvfp4", "bf16", None),
        ),
        ("quantize_config.json", {"bits": 4, "group_size": 128}, ("int4", "bf16", None)),
        ("quant_config.json", {"w_bit": 4, "q_group_size": 128}, ("int4", "bf16", None)),
    ],
)
def test_a_side_file_says_what_the_config_does_not(
    read: Read, name: str, content: dict[str, object], expected: tuple[str, str, str | None]
) -> None:
    weights = read(None, side=(name, content))
    assert (weights.layers, weights.head, weights.kv) == expected
    assert name in weights.source


def test_lists_by_layer_decide_for_each_part(read: Read) -> None:
    every = [f"model.layers.{index}.self_attn.{name}_proj" for index in range(4) for name in "qkv"]
    kept = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": [*every, "lm_head"]}
    weights = read(kept)
    assert (weights.of("attention"), weights.of("attention_output")) == ("bf16", "nvfp4")
    assert weights.mixed == ()
    # One layer of four is left alone: most of attention is quantised, and that is said.
    one = read({**kept, "ignore": ["model.layers.2.self_attn*"]})
    assert one.of("attention") == "nvfp4"
    assert one.mixed == ("attention", "attention_output")
    # Layers beyond the stack (prediction layers) change nothing.
    beyond = read({**kept, "ignore": ["model.layers.4*", "lm_head"]})
    assert parts(beyond) == ("nvfp4",) * 5


def test_mixed_precision_names_its_modules(read: Read) -> None:
    layers = {
        f"model.layers.{index}.{name}": {"quant_algo": algorithm}
        for index in range(4)
        for name, algorithm in [("mlp.experts", "NVFP4"), ("self_attn.o_proj", "FP8")]
    }
    weights = read(
        {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers}
    )
    assert parts(weights) == ("bf16", "fp8", "bf16", "bf16", "nvfp4")


@pytest.mark.parametrize(
    ("quantisation", "problem"),
    [
        ({"quant_method": "aqlm"}, "`quantization_config.quant_method` 'aqlm' is not understood"),
        ({"quant_method": "gptq", "bits": 3}, "`quantization_config.bits` 3 is not understood"),
        ({"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*": {"bits": 8}}}, "`dynamic`"),
        (
            {"quant_method": "modelopt", "quant_algo": "W2A2"},
            "quant_algo` 'W2A2' is not understood",
        ),
        (compressed(({"num_bits": 2, "type": "int"}, ["Linear"])), "`quantization_config.config_"),
        ({"quant_method": "bitsandbytes"}, "`quantization_config.load_in_4bit` is not set"),
        ({"bits": 4}, "quant_method` None is not understood"),
    ],
)
def test_a_format_that_is_not_understood_is_refused_by_name(
    read: Read, quantisation: dict[str, object], problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(quantisation)
    assert problem.replace("`dynamic`", "dynamic`") in str(caught.value)
