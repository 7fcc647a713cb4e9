"""What a fit of an engine may turn: few physical times, the same for all models and GPUs."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting of an engine's preset, with its physical bounds."""

    key: str
    """Of `settings` in `hardware_profiles/engines/<engine>.yaml`."""
    most: float
    """Upper bound, in the unit of the key; the lower one is 0."""
    step: float
    """By how much it is moved to see its effect; large against rounding, small against `most`."""
    meaning: str
    absent: float = 0.0
    """Its value where a preset leaves it out."""


KNOBS: Final = (
    Knob("host_us_per_pass", 10_000, 300, "host time of every pass"),
    Knob("host_us_per_sequence", 200, 10, "host time of a pass for each sequence in it"),
    Knob("host_us_per_prefill_pass", 30_000, 2_000, "more host time of a pass that holds prompts"),
    Knob("host_us_per_prompt", 10_000, 500, "more host time for each prompt in a pass"),
    Knob("host_us_per_launch", 150, 10, "host time for each kernel of a pass without a graph"),
    Knob("small_kernels_us_per_layer", 60, 4, "small kernels and gaps, per layer and pass"),
    Knob("quantise_us_per_product", 10, 2, "kernel that quantises the activations of a product"),
    Knob("expert_prompt_factor", 4, 0.3, "time of prompts in models of experts, times this", 1),
    Knob("ttft_offset_ms", 200, 5, "from a request's arrival until the engine sees it"),
    Knob("tokenise_us_per_token", 20, 2, "more of that for each token of the prompt"),
)
"""Those of one engine that have no effect on the rows at hand stay as they are."""
