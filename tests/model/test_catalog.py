"""The catalog against what publishers print: parameters, KV cache, sources."""

import csv
import shutil
from pathlib import Path

import pytest

from sim.model import list_models, load_model
from sim.model.load import CATALOG, names_of
from sim.model.weight_format import PARTS
from sim.yaml_files import read_yaml

PUBLISHED: dict[str, tuple[int, float]] = {
    # Elements of the published safetensors files (vision included, prediction layers apart), and
    # billions of active parameters with embeddings, as far as the file or the card says.
    "deepseek-v3": (671_026_404_352, 37.6),
    "deepseek-v3.2": (671_877_929_216, 38.4),
    "diffusiongemma-26b-a4b": (25_823_778_864, 4.4),
    "dream-7b": (7_615_616_512, 7.6),
    "gemma-2-9b": (9_241_705_984, 9.2),
    "gemma-2-27b": (27_227_128_320, 27.2),
    "gemma-3-12b": (12_187_325_040, 12.2),
    "gemma-3-27b": (27_432_406_640, 27.4),
    "gemma-4-26b-a4b": (25_823_778_864 - 17_844_992, 4.4),  # without what feeds a guess back
    "gemma-4-31b": (31_273_086_512, 31.3),
    "glm-4.5": (352_797_814_784, 33.6),
    "glm-4.5-air": (106_852_245_504, 13.4),
    "glm-5": (743_911_199_232, 41.8),
    "gpt-oss-20b": (20_914_757_184, 4.2),
    "gpt-oss-120b": (116_829_156_672, 5.7),
    "jamba-1.5-mini": (51_570_323_328, 12.1),
    "kimi-k2": (1_026_408_209_408, 32.9),
    "kimi-k2.5": (1_026_879_353_328, 33.3),
    "llada-2.0-flash": (102_889_697_280, 6.15),  # the card rounds: 100BA6B, 6.1 active
    "llada-2.0-mini": (16_255_638_528, 1.4),
    "llada-8b": (8_015_581_184, 8.0),
    "llama-3.1-8b": (8_030_261_248, 8.0),
    "llama-3.1-70b": (70_553_706_496, 70.6),
    "llama-3.1-405b": (405_853_388_800, 405.9),
    "llama-3.2-1b": (1_235_814_400, 1.2),
    "llama-3.2-3b": (3_212_749_824, 3.2),
    "llama-4-maverick": (401_583_781_376, 18.1),
    "llama-4-scout": (108_641_793_536, 18.0),
    "minimax-m2.5": (228_689_748_992, 11.0),
    "mistral-7b": (7_248_023_552, 7.2),
    "mixtral-8x7b": (46_702_792_704, 12.9),
    "mixtral-8x22b": (140_620_634_112, 39.2),  # 281,241,268,224 bytes in 16 bits
    "nemotron-3-nano-30b-a3b": (31_577_937_344, 3.6),
    "qwen2.5-7b": (7_615_616_512, 7.6),
    "qwen2.5-72b": (72_706_203_648, 72.7),
    "qwen3-0.6b": (596_049_920, 0.6),
    "qwen3-1.7b": (1_720_574_976, 1.7),
    "qwen3-8b": (8_190_735_360, 8.2),
    "qwen3-14b": (14_768_307_200, 14.8),
    "qwen3-32b": (32_762_123_264, 32.8),
    "qwen3-30b-a3b": (30_532_122_624, 3.4),
    "qwen3-235b-a22b": (235_093_634_560, 22.2),
    "qwen3-coder-480b-a35b": (480_154_875_392, 35.5),
    "qwen3-next-80b-a3b": (79_674_391_296, 3.9),
    "qwen3-vl-30b-a3b": (31_070_754_032, 3.9),
    # The smaller ones from their config.json by hand. 27B: 16 layers of 372,255,232 with
    # attention, 48 of 383,273,184 without, 2 x 248,320 x 5,120 + 5,120, 460,730,096 for images.
    "qwen3.5-27b": (27_356_728_560, 27.4),
    "qwen3.5-35b-a3b": (35_107_181_936, 3.9),
    "qwen3.5-122b-a10b": (122_562_817_776, 10.2),
    "qwen3.5-397b-a17b": (396_802_360_816, 17.8),
    "sdar-30b-a3b": (30_532_122_624, 3.4),
    "sdar-8b": (8_190_735_360, 8.2),
}

KV_BYTES_IN_BF16: dict[str, int] = {
    "llama-3.1-8b": 32 * 2 * 8 * 128 * 2,
    "llama-3.1-70b": 327_680,
    "qwen3-32b": 262_144,
    "deepseek-v3": 576 * 61 * 2,  # one latent of 512 + 64 a layer: 70,272 B
    "gpt-oss-120b": 36 * 2 * 8 * 64 * 2,  # 73,728 B, half of it in windows
    "qwen3.5-397b-a17b": 15 * 2 * 2 * 256 * 2,  # one layer in four
    "nemotron-3-nano-30b-a3b": 6 * 2 * 2 * 128 * 2,  # six layers of 52
    "jamba-1.5-mini": 4 * 2 * 8 * 128 * 2,  # four layers of 32: "4 GB at 256K", Jamba paper
}


def test_the_catalog_holds_exactly_the_models_with_a_published_count() -> None:
    assert set(list_models()) == set(PUBLISHED)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_parameters_equal_the_published_count(name: str) -> None:
    model, (total, billions) = load_model(name), PUBLISHED[name]
    assert model.total_parameters == total
    assert model.active_parameters / 1e9 == pytest.approx(billions, abs=0.05)


@pytest.mark.parametrize("name", sorted(KV_BYTES_IN_BF16))
def test_kv_bytes_per_token_are_as_published(name: str) -> None:
    model = load_model(name)
    assert model.kv_bytes_per_token(2.0) == KV_BYTES_IN_BF16[name]
    assert model.kv_bytes_per_token(1.0) == KV_BYTES_IN_BF16[name] / 2


def test_half_of_the_cache_of_gpt_oss_stops_growing_at_128_tokens() -> None:
    model = load_model("gpt-oss-120b")
    assert model.full_kv_elements_per_token == model.kv_elements_per_token() / 2
    assert {group.layer.window_tokens for group in model.windowed} == {128}
    assert model.kv_bytes_per_token(2.0, 128_000) == pytest.approx(36_864 * (1 + 128 / 128_000))


def test_jamba_keeps_four_gigabytes_for_256_thousand_tokens() -> None:
    # Lieber et al., arXiv:2403.19887, table 1
    model = load_model("jamba-1.5-mini")
    assert model.kv_elements(262_144) * 2 == pytest.approx(4 * 2**30)


def test_the_cards_totals_are_met_with_the_prediction_layers() -> None:
    # 14B of the 685B on disk, of which 2 x 0.93B are copies of embeddings and head (HF card)
    assert load_model("deepseek-v3").mtp_parameters / 1e9 == pytest.approx(14 - 2 * 0.93, abs=0.6)
    glm = load_model("glm-4.5")
    ends = glm.embedding_elements + glm.head_elements  # stored again in its prediction layer
    assert (glm.total_parameters + glm.mtp_parameters + ends) / 1e9 == pytest.approx(
        358.3, abs=0.1
    )


def test_a_checkpoint_of_diffusion_gemma_is_as_large_as_published() -> None:
    # model.safetensors.index.json: 51,647,701,024 B in bf16, headers included
    assert load_model("diffusiongemma-26b-a4b").total_parameters * 2 == pytest.approx(
        51_647_701_024, rel=1e-5
    )


@pytest.mark.parametrize("path", sorted(CATALOG.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_names_its_source_and_its_date(path: Path) -> None:
    facts = read_yaml(path)
    assert facts["name"] == path.stem
    assert str(facts["source"]).startswith("https://")
    assert str(facts["as_of"])[:2] == "20"


def test_no_alias_means_two_models() -> None:
    names = [known.lower() for name in list_models() for known in names_of(name)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", list_models())
def test_every_name_of_a_model_has_its_shape(name: str) -> None:
    model = load_model(name)
    for known in names_of(name):
        found = load_model(known)
        assert (found.groups, found.total_parameters) == (model.groups, model.total_parameters)


@pytest.mark.parametrize(
    ("repository", "layers", "kv"),
    [
        ("Qwen/Qwen3-235B-A22B-FP8", "fp8_block", None),
        ("qwen3-32b-fp8", "fp8_block", None),
        ("qwen/qwen3-8b-awq", "int4", None),
        ("nvidia/Llama-3.1-70B-Instruct-FP8", "fp8", "fp8"),
        ("nvidia/Qwen3-235B-A22B-NVFP4", "nvfp4", "fp8"),
        ("zai-org/GLM-5", "bf16", None),
        ("zai-org/GLM-5-FP8", "fp8_block", None),
    ],
)
def test_a_quantised_checkpoint_goes_by_its_own_name(
    repository: str, layers: str, kv: str | None
) -> None:
    model = load_model(repository)
    assert (model.weights.of("experts"), model.weights.kv) == (layers, kv)


def test_a_checkpoint_is_called_as_its_repository() -> None:
    assert load_model("Qwen/Qwen3-32B-FP8").name == "qwen3-32b-fp8"
    assert load_model("Qwen/Qwen3-32B").name == "qwen3-32b"


CONFIGS = {
    "deepseek-ai/DeepSeek-R1": "deepseek-ai--DeepSeek-R1",
    "nvidia/DeepSeek-V3.1-NVFP4": "nvidia--DeepSeek-V3.1-NVFP4",
    "nvidia/Gemma-4-31B-IT-NVFP4": "nvidia--Gemma-4-31B-IT-NVFP4",
    "nvidia/Llama-3.1-70B-Instruct-FP8": "nvidia--Llama-3.1-70B-Instruct-FP8",
    "nvidia/Qwen3-235B-A22B-NVFP4": "nvidia--Qwen3-235B-A22B-NVFP4",
    "Qwen/Qwen3-235B-A22B-FP8": "Qwen--Qwen3-235B-A22B-FP8",
    "Qwen/Qwen3-32B-FP8": "Qwen--Qwen3-32B-FP8",
    "zai-org/GLM-5-FP8": "zai-org--GLM-5-FP8",
}


@pytest.mark.parametrize("repository", sorted(CONFIGS))
def test_a_checkpoint_stores_what_its_published_files_say(
    repository: str, shared_data: Path, tmp_path: Path
) -> None:
    for side in ("config", "hf_quant_config"):
        source = shared_data / "configs" / f"{CONFIGS[repository]}_{side}.json"
        if source.exists():
            shutil.copy(source, tmp_path / f"{side}.json")
    published, listed = load_model(tmp_path).weights, load_model(repository).weights
    assert [listed.of(part) for part in PARTS] == [published.of(part) for part in PARTS]
    assert (listed.kv, listed.group_elements) == (published.kv, published.group_elements)


def test_every_model_of_the_measured_runs_has_a_name_in_the_catalog(shared_data: Path) -> None:
    with (shared_data / "measured" / "serving_runs.csv").open(encoding="utf-8") as file:
        names = {row["model"] for row in csv.DictReader(file)}
    assert names
    for name in names:
        load_model(name)


def test_diffusion_models_say_how_they_decode() -> None:
    models = map(load_model, list_models())
    families = {model.name: model.decoding for model in models if not model.causal}
    assert families == {
        "diffusiongemma-26b-a4b": ("block_diffusion",),
        "dream-7b": ("diffusion",),
        "llada-2.0-flash": ("block_diffusion",),
        "llada-2.0-mini": ("block_diffusion",),
        "llada-8b": ("diffusion",),
        "sdar-30b-a3b": ("block_diffusion",),
        "sdar-8b": ("block_diffusion",),
    }
