"""How suites of serving benchmarks drive a server, and what their short names of models mean."""

import re
from typing import Final, NamedTuple

PROMPTS_PER_USER: Final = 10
"""Convention of the suites: `--num-prompts` is ten times `--max-concurrency`."""
SHORTEST_SHARE: Final = 0.8
"""Lengths are uniform from this share of the nominal one upwards (`--random-range-ratio`)."""


class SuiteModel(NamedTuple):
    """One model of InferenceX, under the names that it goes by."""

    family: str
    """Ours, for the settings of its scripts."""
    form: str
    """What publishers' names, catalog names and quantised copies of it look like."""
    short: str | None = None
    """The suite's own short name in its result files."""
    checkpoint: str | None = None
    """What the short name stands for."""


MODELS: Final = (
    SuiteModel("llama-70b", r"llama-3\.[13]-70b", "llama70b", "meta-llama/Llama-3.3-70B-Instruct"),
    SuiteModel("deepseek-r1", r"deepseek-r1(?!-distill)", "dsr1", "deepseek-ai/DeepSeek-R1-0528"),
    SuiteModel("gpt-oss-120b", r"gpt-oss-120b", "gptoss", "openai/gpt-oss-120b"),
    SuiteModel("kimi-k2.5", r"kimi-k2\.5"),
    SuiteModel("minimax-m2.5", r"minimax-m2\.5"),
    SuiteModel("glm-5", r"glm-5(?![.\d])"),
    SuiteModel("qwen3.5-397b", r"qwen3\.5-397b"),
)


def family_of(model: str) -> str:
    """Return the suite's model that a name stands for; empty for any other.

    >>> family_of("nvidia/DeepSeek-R1-0528-FP4"), family_of("meta-llama/Llama-3.1-8B-Instruct")
    ('deepseek-r1', '')
    """
    name = model.lower()
    return next((one.family for one in MODELS if re.search(one.form, name)), "")


def checkpoint_of(short: str) -> str | None:
    """Return what a short name of the suite stands for; None for any other.

    >>> checkpoint_of("gptoss"), checkpoint_of("llama-3.1-8b")
    ('openai/gpt-oss-120b', None)
    """
    return next((one.checkpoint for one in MODELS if one.short == short), None)
