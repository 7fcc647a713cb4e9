"""Write docs/kernels.md: the held-out errors of every shipped fit beside what was aimed at.

`python -m calibration.fit.overview`; `make calibrate` ends with it. The same profiles give the
same document, byte for byte.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from calibration.fit.fit import ENGINES
from calibration.markdown import markdown_table
from calibration.timings.aiconfigurator import OTHER_EXPERTS, SYSTEMS
from sim.hardware import load_fitted_named
from sim.hardware.evidence import Evidence
from sim.hardware.fitted import Fit
from sim.hardware.load import FITTED

DOCUMENT: Final = Path(__file__).resolve().parents[2] / "docs" / "kernels.md"
PCIE: Final = frozenset({"l40s", "rtx_pro_6000"})
AIMS: Final = MappingProxyType(
    {
        "gemm.bf16": 0.06,
        "gemm.fp8": 0.10,
        "gemm.fp8_block": 0.10,
        "gemm.nvfp4": 0.08,
        "decode_attention": 0.07,
        "prefill_attention": 0.08,
        "experts": 0.12,
        "all_reduce": 0.12,
    }
)
"""Mean absolute errors that were aimed at; of other kernels none was."""
OLDER_GEMM: Final = 0.08
"""Aim of bf16 products on A100."""
COLLECTIVES: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
FAMILIES: Final = (
    *("gemm", "decode_attention", "prefill_attention", "latent_attention", "latent_prefill"),
    *("experts", *COLLECTIVES),
)

_INTRODUCTION: Final = """\
# Kernel fits

Held-out errors of the shipped fits (`hardware_profiles/fitted/`), written by `make calibrate`:
mean absolute error, in per cent, of shapes that a fit of the others had not seen, under two
splits of the shapes. A fit's own evidence says which timings it was made on and in what range it
holds. **Bold**: above what was aimed at under one split at least ({above} of {judged} figures with
an aim; [what is known of the causes](calibration.md#what-is-left-and-how-low-it-can-get)). †: the
engine's own tables lack such kernels or were refused, and another's stand in. Aims of collectives
are for NVLink; L40S and RTX PRO 6000 are on PCIe. Decode is of the serving regime: 8 sequences or
more, a context of 512 or more. `vllm_triton` holds Triton's experts of vLLM alone, which it runs
where others are switched off (`fp8_block_experts_of`).
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """One fit of a GPU and engine."""

    evidence: Evidence
    aim: float | None
    borrowed: bool

    @property
    def worst(self) -> float:
        """Larger of the two held-out errors."""
        return max(self.evidence.held_out["all"], self.evidence.held_out_again or 0.0)

    @property
    def above(self) -> bool:
        """Whether it is above its aim; to a tenth of a per cent, as it is printed."""
        return self.aim is not None and round(self.worst, 3) > self.aim

    @property
    def text(self) -> str:
        """Both errors, and what to know of them."""
        again = self.evidence.held_out_again
        both = f"{100 * self.evidence.held_out['all']:.1f}"
        both += "" if again is None else f" / {100 * again:.1f}"
        return (f"**{both}**" if self.above else both) + ("†" if self.borrowed else "")


Cells = Mapping[tuple[str, str], Cell]
"""By part and GPU."""


def aim_of(part: str, gpu: str) -> float | None:
    """Return the error that was aimed at for a part of a GPU's profile; None without an aim."""
    if part == "gemm.bf16" and gpu.startswith("a100"):
        return OLDER_GEMM
    if part in COLLECTIVES and gpu in PCIE:
        return None
    return AIMS.get(part, AIMS.get(part.partition(".")[0]))


def cells(engine: str) -> Cells:
    """Return every fit of an engine's kernels."""
    found: dict[tuple[str, str], Cell] = {}
    for gpu in SYSTEMS:
        if engine in OTHER_EXPERTS and not (FITTED / f"{gpu}__{engine}.yaml").is_file():
            continue  # nobody timed it there
        profile = load_fitted_named(f"{gpu}__{engine}")
        for part in profile.error:
            family, _, key = part.partition(".")
            mine = getattr(profile, family)
            fit: Fit = mine[key] if key else mine
            if fit.evidence is not None:
                own = engine if part == "all_reduce" or part not in COLLECTIVES else "nccl"
                borrowed = not fit.evidence.kernels.startswith(own)
                found[part, gpu] = Cell(fit.evidence, aim_of(part, gpu), borrowed)
    return found


def document() -> str:
    """Return the page as Markdown."""
    every = {engine: cells(engine) for engine in (*ENGINES, *OTHER_EXPERTS)}
    judged = [cell for found in every.values() for cell in found.values() if cell.aim is not None]
    above = sum(cell.above for cell in judged)
    parts = [_INTRODUCTION.format(above=above, judged=len(judged))]
    parts += [f"## {engine}\n\n{_table(found)}" for engine, found in every.items()]
    return "\n".join(parts)


def _table(found: Cells) -> str:
    rows = []
    for part in sorted(dict.fromkeys(part for part, _ in found), key=_place):
        aim = aim_of(part, "h200_sxm")
        said = "" if aim is None else f"{100 * aim:.0f}"
        said += " (A100 8)" if part == "gemm.bf16" else ""
        row = (found.get((part, gpu)) for gpu in SYSTEMS)
        rows.append((part, said, *("" if cell is None else cell.text for cell in row)))
    return markdown_table(("kernel", "aim", *SYSTEMS), rows)


def _place(part: str) -> int:
    """Kernels in the order of a profile: products first, collectives last."""
    return FAMILIES.index(part.partition(".")[0])


def write_overview() -> None:
    """Write the page."""
    DOCUMENT.write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    write_overview()
