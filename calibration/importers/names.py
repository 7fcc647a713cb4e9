"""From the names that pages and people give to models, engines and formats to those here."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from calibration.importers.numbers import text
from sim.errors import SimError
from sim.model import list_models, load_model
from sim.model.load import names_of

_ENGINES: Final = MappingProxyType(
    {
        "vllm": "vllm",
        "sglang": "sglang",
        "sgl": "sglang",
        "trtllm": "trtllm",
        "trt": "trtllm",
        "tensorrtllm": "trtllm",
        "tensorrt": "trtllm",
    }
)
_WEIGHTS: Final = MappingProxyType(
    {
        **dict.fromkeys(("bf16", "bfloat16"), "bf16"),
        **dict.fromkeys(("fp16", "float16", "half", "f16"), "fp16"),
        **dict.fromkeys(("fp8", "fp8e4m3", "fp8dynamic", "w8a8fp8", "fp8w8a8"), "fp8"),
        **dict.fromkeys(("fp8block", "fp8blockscales", "blockfp8"), "fp8_block"),
        **dict.fromkeys(("int8", "w8a8", "w8a8int8", "int8w8a8"), "int8"),
        **dict.fromkeys(
            ("int4", "awq", "gptq", "awqmarlin", "gptqmarlin", "w4a16", "w4a16awq", "w4a16gptq"),
            "int4",
        ),
        **dict.fromkeys(("mxfp4", "w4a16mxfp4", "w4a8mxfp4fp8"), "mxfp4"),
        **dict.fromkeys(("nvfp4", "nvfp4fp4", "modeloptfp4"), "nvfp4"),
        "fp4": "fp4",
        **dict.fromkeys(("checkpoint", "auto", "aspublished"), "checkpoint"),
    }
)


def engine_name(value: object) -> str | None:
    """Return the preset that the name of an engine means; an unknown name as it stands.

    >>> engine_name("TensorRT-LLM"), engine_name("vLLM 0.11.0"), engine_name("my-engine.yaml")
    ('trtllm', 'vllm', 'my-engine.yaml')
    """
    given = text(value)
    return None if given is None else known_engine(given) or given


def known_engine(label: str) -> str | None:
    """Return the preset that a label means; None where it is no engine of ours.

    >>> known_engine("tensorrt-llm"), known_engine("openai-chat")
    ('trtllm', None)
    """
    bare = re.sub(r"\s+v?\d[\w.]*$", "", label)  # a version behind the name
    return _ENGINES.get(_letters(bare))


def weights_name(value: object) -> str | None:
    """Return the format that a label of the weights means; an unknown label as it stands.

    >>> weights_name("AWQ"), weights_name("bfloat16"), weights_name("W4A16"), weights_name("q5_k")
    ('int4', 'bf16', 'int4', 'q5_k')
    """
    given = text(value)
    return None if given is None else _WEIGHTS.get(_letters(given), given)


def format_in(model: str) -> str | None:
    """Return the format of the weights that the name of a checkpoint tells, if it tells one.

    >>> format_in("RedHatAI/Qwen3-8B-FP8-dynamic"), format_in("Qwen/Qwen3-8B")
    ('fp8', None)
    """
    parts = re.split(r"[-_/]", model)
    return next((_WEIGHTS[part] for part in map(_letters, parts) if part in _WEIGHTS), None)


def _letters(label: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", label.lower())


_ADDED: Final = re.compile(
    r"instruct|chat|it|base|thinking|preview|hf|tuned|dynamic|block|blockwise|kv|modelopt|marlin"
    r"|quantized(\.w\d+a\d+)?|bf16|fp16|fp8|fp4|nvfp4|mxfp4|int4|int8|awq|gptq|w\d+a\d+|g\d+"
    r"|\d?bit|v\d+(\.\d+)*|\d{4}|e4m3"
)
"""Words that a publisher adds to the name of a checkpoint without another architecture: how it was
trained on, its format, its date or version."""
_SIZE: Final = re.compile(r"(\d+x)?\d+(\.\d+)?[bm]")
"""Such as 8b or 8x7b: without one, a version is a part of the name (DeepSeek-V2 and V3)."""
_FILES: Final = (".yaml", ".yml", ".json")


@lru_cache(maxsize=1024)
def stand_in(name: str) -> str | None:
    """Return the model of the catalog whose name with added words a checkpoint has, if one.

    None where the catalog knows the name itself, or where the words tell of another model.

    >>> stand_in("Qwen/Qwen3-8B"), stand_in("RedHatAI/Qwen3-8B-Instruct-2512-NVFP4")
    (None, 'qwen3-8b')
    >>> stand_in("DeepSeek-R1-Distill-Qwen-7B"), stand_in("Qwen3-VL-8B"), stand_in("DeepSeek-V2.5")
    (None, None, None)
    """
    if not name or name.endswith(_FILES) or Path(name).exists() or _is_known(name):
        return None  # a file that holds something else: whoever loads it says what
    bare = name.rsplit("/", 1)[-1].lower().removeprefix("meta-")
    parts, known = re.split(r"[-_]", bare), _bare_names()
    while parts and "-".join(parts) not in known:
        if not _ADDED.fullmatch(parts.pop()):
            return None
    return known.get("-".join(parts))


def _is_known(name: str) -> bool:
    try:
        load_model(name)
    except SimError:
        return False
    return True


def _sized(parts: Sequence[str]) -> bool:
    """Tell whether words name a model by its size, not its family alone, as `deepseek` does."""
    return any(_SIZE.fullmatch(part) for part in parts)


@lru_cache(maxsize=1)
def _bare_names() -> Mapping[str, str]:
    """Return every name of a model, less its owner and added words, with the catalog's own."""
    found: dict[str, str] = {}
    for model in list_models():
        for name in names_of(model):
            parts = re.split(r"[-_]", name.rsplit("/", 1)[-1].lower().removeprefix("meta-"))
            while len(parts) > 1 and _ADDED.fullmatch(parts[-1]) and _sized(parts[:-1]):
                parts.pop()
            found.setdefault("-".join(parts), model)
    return found | {model: model for model in list_models()}
