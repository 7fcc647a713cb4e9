"""Experts' kernels that an engine has beside those it takes by itself, under names of their own.

An engine goes by these names in timings and fits, such as `vllm_triton`; option
`fp8_block_experts_of` takes them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from calibration.timings.aiconfigurator.kernels import expert_table
from calibration.timings.aiconfigurator.wheel import read_older

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class OtherExperts:
    """Which rows are those of the kernel."""

    engine: str
    kernel: str
    """The wheel's `kernel_source`."""
    format: str
    """The wheel's `moe_dtype`."""


OTHER_EXPERTS: Final = MappingProxyType(
    {"vllm_triton": OtherExperts("vllm", "vllm_fused_moe", "fp8_block")}
)
"""Triton's fused experts of vLLM, which up to 0.22 the wheel timed whatever vLLM would have taken
(`fused_experts` of vllm/model_executor/layers/fused_moe); 0.24's tables hold what vLLM takes."""


def other_experts(system: str, gpu: str, name: str) -> Iterator["pa.Table"]:
    """Yield the rows of such a kernel, of the newest version that has any; else nothing."""
    wanted = OTHER_EXPERTS[name]
    for rows in read_older(system, "moe", wanted.engine, "moe_perf"):
        mine = (rows.columns["kernel_source"] == wanted.kernel) & (
            rows.columns["moe_dtype"] == wanted.format
        )
        if mine.any():
            yield expert_table(replace(rows.where(mine), engine=name), gpu)
            return
