"""Which model of the suite a name means: publishers' names, catalog names and quantised copies."""

import re
from typing import Final

_FAMILIES: Final = {
    "llama-70b": r"llama-3\.[13]-70b",
    "deepseek-r1": r"deepseek-r1(?!-distill)",
    "gpt-oss-120b": r"gpt-oss-120b",
    "kimi-k2.5": r"kimi-k2\.5",
    "minimax-m2.5": r"minimax-m2\.5",
    "glm-5": r"glm-5(?![.\d])",
    "qwen3.5-397b": r"qwen3\.5-397b",
}


def family_of(model: str) -> str:
    """Return the suite's model that a name stands for; empty for any other.

    >>> family_of("nvidia/DeepSeek-R1-0528-FP4"), family_of("meta-llama/Llama-3.1-8B-Instruct")
    ('deepseek-r1', '')
    """
    name = model.lower()
    return next((key for key, form in _FAMILIES.items() if re.search(form, name)), "")
