"""One fit of few timings that were drawn at random: what it stated, and how far off it was."""

from dataclasses import dataclass
from typing import Final

from calibration.fit.judge import WORSE

PAIRS: Final = (
    ("h200_sxm", "h100_sxm"),
    ("b200_sxm", "h200_sxm"),
    ("gb200", "b200_sxm"),
    ("a100_sxm_80gb", "h100_sxm"),
    ("l40s", "h100_sxm"),
)
"""GPU, and the sister whose fit is its base; the last two are of another kind."""
PARTS: Final = ("all_reduce", "decode_attention.bf16", "gemm.bf16", "gemm.fp8", "experts.bf16")
COUNTS: Final = (9, 60)


@dataclass(frozen=True, slots=True)
class Draw:
    """One fit of few timings, and how far it is off on all others. Errors are fractions."""

    gpu: str
    part: str
    count: int
    """Timings that were asked for; as many can be used, or a few more."""
    stated: float
    true: float
    base: float
    """Of the sister's fit alone, on the same timings."""
    refused: bool
    """Because the sister seemed to be better."""

    @property
    def worse(self) -> bool:
        """Whether the fit is truly worse than its base, by more than is let pass."""
        return self.true > WORSE * self.base
