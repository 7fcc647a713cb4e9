"""What the suites' public server scripts set, where an engine's default is something else.

Scripts: https://github.com/SemiAnalysisAI/InferenceX, `benchmarks/` (at first InferenceMAX; since
2026 most under `single_node/fixed_seq_len/`). They are facts of the runs, read there. No number
was fitted to a row; where the scripts leave two settings open, four times the rows were heard
(docs/accuracy.md, Doubts). Scripts change; where a run was made with another version of one, its
row is off, and stays off.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from calibration.suites import family_of
from calibration.validate.recipes.recipe import (
    FP8_KV_ENGINES,
    GENERATED,
    GENERATED_LENGTHS,
    LENGTHS,
    SUITE,
    Recipe,
    Settings,
    default_sequences,
    defaults,
)
from calibration.validate.recipes.sglang import generated, sglang
from calibration.validate.recipes.trtllm import trtllm
from calibration.validate.recipes.vllm import vllm
from calibration.validate.runs import MeasuredRun

__all__ = [
    "FP8_KV_ENGINES",
    "GENERATED",
    "SUITE",
    "Recipe",
    "Settings",
    "default_sequences",
    "recipe_of",
]

_ENGINES: Final[Mapping[str, Callable[[MeasuredRun, str], Recipe | None]]] = MappingProxyType(
    {"sglang": sglang, "trtllm": trtllm, "vllm": vllm}
)


def recipe_of(run: MeasuredRun, settings: Settings = "suite") -> Recipe:
    """Return what the suite's script set for a run like this, or the engine's own defaults.

    A run is taken as the suite's by its lengths, model, GPU, engine and precision; by its lengths
    alone as one that genai-perf drove, to which they are means.
    """
    lengths = (run.input_tokens, run.output_tokens)
    if settings == "suite" and lengths in GENERATED_LENGTHS:
        recipe = generated(run) if run.engine == "sglang" else defaults(run)
        return replace(recipe, lengths="around")
    if settings == "engine" or lengths not in LENGTHS or run.engine not in _ENGINES:
        return defaults(run)
    return _ENGINES[run.engine](run, family_of(run.model)) or defaults(run)
