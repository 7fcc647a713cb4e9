"""DiffusionGemma beside Gemma 4 26B-A4B, one token a pass and with MTP (vLLM blog, 2026-06-10).

One request at a time in FP8 on one GPU. The blog gives the command of the diffusion run: prompts
of 4,096 tokens, answers of 512, canvases of 256, 16 passes each; speed is canvas / time from one
canvas to the next. The other two are taken under the same lengths.
"""

from pathlib import Path
from typing import Any, Final

from calibration.published.check import Check, Comparison
from sim.run import run
from sim.scenario import Scenario, build_scenario

CANVAS: Final = 256
AUTOREGRESSIVE: Final = "gemma-4-26b-a4b"
DIFFUSION: Final = "diffusiongemma-26b-a4b"
PUBLISHED: Final = {
    "h100_sxm": {"autoregressive": 197.0, "MTP": 389.0, "diffusion": 1008.0},
    "h200_sxm": {"autoregressive": 213.0, "MTP": 429.0, "diffusion": 1288.0},
}
TOLERANCE: Final = 0.15
DECODING: Final[dict[str, dict[str, Any]]] = {
    "autoregressive": {"name": "autoregressive"},
    "MTP": {
        "name": "speculative",
        "drafter": "mtp",
        "draft_tokens": 4,
        "conditional_acceptance": [0.8] * 4,
        "draft": {"kind": "mtp"},
        "source": "synthetic, as the benchmark sets it",
    },
    "diffusion": {
        "name": "block_diffusion",
        "block_tokens": CANVAS,
        "denoise_passes": 16,
        "self_conditioning": True,
    },
}


def scenario(gpu: str, form: str) -> Scenario:
    """Return one request after the other under one form."""
    return build_scenario(
        {
            "name": "diffusion-gemma",
            "model": DIFFUSION if form == "diffusion" else AUTOREGRESSIVE,
            "hardware": gpu,
            "engine": "vllm",
            "deployment": {"weights": "fp8", "max_sequences": 4},
            "decoding": DECODING[form],
            "workload": {
                "arrivals": {"kind": "closed_loop", "users": 1},
                "input_tokens": {"kind": "fixed", "tokens": 4096},
                "output_tokens": {"kind": "fixed", "tokens": 512},
            },
            "run": {"requests": 20},
        },
        where="DiffusionGemma in vLLM",
        folder=Path(),
    )


def tokens_per_s(gpu: str, form: str) -> float:
    """Return the decoding speed of one request, tokens/s."""
    latency = run(scenario(gpu, form), intervals=False).metrics.latency
    if form == "diffusion":
        return CANVAS / (latency["max_gap"].mean or 0.0)
    return 1.0 / (latency["tpot"].mean or 0.0)


def compare() -> Comparison:
    """Return the six figures beside the simulator."""
    checks = tuple(
        Check(form, gpu, figure, tokens_per_s(gpu, form), TOLERANCE)
        for gpu, figures in PUBLISHED.items()
        for form, figure in figures.items()
    )
    return Comparison(
        "DiffusionGemma and Gemma 4 26B-A4B at batch 1, FP8", _ABOUT, checks, _MISSING
    )


_ABOUT = """\
vLLM blog, 2026-06-10: tokens/s of one request on one GPU. Prompts of 4,096 and answers of 512
tokens as in the command that the blog prints for diffusion; the same lengths are assumed for the
other two. 16 denoise passes and a commit pass for a canvas of 256; MTP drafts 4 tokens, each
accepted with 0.8 as the benchmark sets it. The guess is fed back through the vocabulary."""

_MISSING = """\
One token a pass comes out too fast, most of all on the H200: with so few bytes a pass is small
kernels and launches. The seven norms of a layer are counted (a norm more than usual is a kernel
more); the dense MLP beside the experts and sampling over 262,144 tokens have no time of their
own."""
