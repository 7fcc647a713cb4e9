"""Which rows of the wheel are of kernels that servers run: the others are left out.

What an engine runs by default on a GPU is what its own source says, or its documentation where
that tells to choose otherwise. Wrong rows cost a factor, not a few per cent.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np

Mask: TypeAlias = "np.typing.NDArray[np.bool_]"
UNPACKED, MIXED = "w4a16_mxfp4", "w4a8_mxfp4_mxfp8"
"""MXFP4 weights that kernels unpack to 16 bits, and that they multiply with MXFP8 activations."""
SM100: Final = frozenset({"b200_sxm", "b300_sxm", "gb200", "gb300"})
"""GPUs of compute capability 10."""
HOPPER: Final = frozenset({"h100_sxm", "h200_sxm"})
MIXES: Final = MappingProxyType({"trtllm": {*SM100, "rtx_pro_6000"}, "sglang": SM100})
"""By engine, the GPUs on which it multiplies MXFP4 experts with MXFP8 activations by default.

TensorRT-LLM: compute capability 10 and more (`ModelConfig.get_mxfp4_quant_algo`,
tensorrt_llm/_torch/model_config.py). SGLang: `flashinfer_mxfp4` on 10 only, with
`flashinfer_mxfp4_moe_precision` at its default, which quantises them (`Mxfp4MoEMethod.apply`,
python/sglang/srt/layers/quantization/mxfp4.py at bafa16ec; on 12 it takes kernels of 16 bits).
vLLM does so where it is told to.
"""
UPCAST: Final = "sglang_fused_moe_triton"
"""In MXFP4: the weights are unpacked when they are loaded, and read in 16 bits.

SGLang takes `triton_kernel` for gpt-oss (server_args.py, `_handle_gpt_oss_family`), which reads
them as stored; gpt-oss-120b unpacked is 230 GB, so that most of the rows fit on no GPU.
"""
GENERATED, UNGATED_ALONE = "moe_torch_flow_min_latency", "moe_torch_flow_nongated"
"""Experts in NVFP4 by TensorRT-LLM's backend `TRTLLM` (the collector sets `moe_backend` so), and
those of two matrices, of which no other kernel was timed.

Its published configurations of DeepSeek-R1 in NVFP4 set that backend (examples/configs/database/
nvidia/DeepSeek-R1-0528-FP4-v2/B200, at 01009a33); CUTLASS, the default, takes twice as long.
"""
SLOW_ON_HOPPER: Final = ("modeloptfp8moe_flashinfer_cutlass", "sglang_flashinfer_cutlass_moe")
"""CUTLASS experts at a fifth of the bandwidth.

No server's choice there: SGLang takes Triton for 16 bits (`_handle_nemotron_family` of
server_args.py names CUTLASS for quantised checkpoints only).
"""
CONVERTED: Final = "flash_attention"
"""SGLang's decode over a latent on Hopper.

With a cache in FP8 it converts the whole cache to the queries' format in each layer
(`forward_decode` of flashattention_backend.py): ten times as long as in 16 bits. The
documentation serves FP8 with `--attention-backend flashmla` (docs/advanced_features/
attention_backend.md, at 000984ed), which was not timed; TensorRT-LLM's rows stand in.
"""


def experts_served(columns: Mapping[str, Any], gpu: str, engine: str) -> Mask:
    """Return which rows of routed experts are of kernels that the engine runs on the GPU.

    DeepGEMM rows on Blackwell are far slower than servers are. Where a table holds experts that
    were unpacked when they were loaded, none of its MXFP4 rows are taken: vLLM's stand in, which
    are of Triton's kernels too. B300 and GB300 were timed with CUTLASS alone in NVFP4: there the
    same generated kernels under vLLM stand in.
    """
    formats = columns["moe_dtype"]
    names = np.array([str(name) for name in columns["kernel_source"]])
    kept: Mask = formats != (UNPACKED if gpu in MIXES.get(engine, ()) else MIXED)
    slow = ("deepgemm", *(SLOW_ON_HOPPER if gpu in HOPPER else ()))
    kept &= np.array([not any(one in name for one in slow) for name in names], dtype=bool)
    unpacked: Mask = formats == UNPACKED
    if any(UPCAST in name for name in names[unpacked]):
        kept &= ~unpacked
    if engine == "trtllm" and gpu in SM100:
        generated = (GENERATED, UNGATED_ALONE) if GENERATED in names else ()
        kept &= (formats != "nvfp4") | np.isin(names, generated)
    return kept


def latent_served(columns: Mapping[str, Any]) -> Mask:
    """Return which rows of decode over a latent are of kernels that servers run."""
    converted: Mask = columns["kernel_source"] == CONVERTED
    kept: Mask = ~(converted & (columns["kv_cache_dtype"] == "fp8"))
    return kept
