"""Any machine for any model, and any pass on it, drawn by hypothesis."""

from functools import cache
from itertools import product
from typing import Any, NamedTuple

from hypothesis import strategies as st

from sim.cost import ForwardPass, PassLoad
from sim.deployment import Deployment
from sim.hardware import list_gpus, load_engine, load_fitted, load_gpu
from sim.model import Experts, GroupedQuery, Latent, Model, load_model
from sim.precision import PRECISIONS

gpu_of, model_of = cache(load_gpu), cache(load_model)
fitted_of = cache(lambda gpu, kernels: load_fitted(gpu_of(gpu), kernels))
KERNELS = ("generic", "vllm", "sglang", "trtllm")
"""Whose kernels: one smooth roofline, or fits with tables of residuals."""
WEIGHTS = ("checkpoint", *PRECISIONS)
WIDTHS = (1, 2, 4, 8)
Layout = tuple[int, int, int, int]


@cache
def allowed_layouts(model: str) -> tuple[Layout, ...]:
    """Tensor, pipeline, expert and attention-data widths that go with a model, up to 8 GPUs."""
    facts = model_of(model)
    return tuple(
        (tensor, pipeline, expert, data)
        for tensor, pipeline, data, expert in product(WIDTHS, WIDTHS[:3], WIDTHS[:3], WIDTHS)
        if tensor * pipeline * data <= 8
        and (expert == 1 or (has_experts(facts) and tensor * data % expert == 0))
        and all(_shared(mixer, tensor) for mixer, _ in facts.attention_groups())
    )


def has_experts(model: Model) -> bool:
    return any(isinstance(group.layer.mlp, Experts) for group in model.groups)


def _shared(mixer: GroupedQuery | Latent, ranks: int) -> bool:
    """Whether ranks share the heads without rest, each KV head whole."""
    kv_heads = mixer.kv_heads if isinstance(mixer, GroupedQuery) else 1
    return mixer.heads % ranks == 0 and (kv_heads % ranks == 0 or ranks % kv_heads == 0)


@cache
def machine(
    model: str,
    gpu: str,
    layout: Layout,
    *,
    weights: str = "bf16",
    kv: str = "bf16",
    skew: float = 0.0,
    kernels: str = "generic",
) -> ForwardPass:
    """Return the cost model of a model on some GPUs, with a host that takes time."""
    tensor, pipeline, expert, data = layout
    deployment = Deployment.model_validate(
        {
            "tensor_parallel": tensor,
            "pipeline_parallel": pipeline,
            "expert_parallel": expert,
            "attention_data_parallel": data,
            "weights": weights,
            "kv_precision": kv,
            "expert_skew": skew,
        }
    )
    host = load_engine("generic").model_copy(
        update={"host_s_per_pass": 1e-3, "host_s_per_sequence": 1e-6}
    )
    return ForwardPass(model_of(model), gpu_of(gpu), fitted_of(gpu, kernels), host, deployment)


@st.composite
def machines_of(draw: st.DrawFn, model: str, kernels: tuple[str, ...] = KERNELS) -> ForwardPass:
    """Return any machine that may serve a model."""
    return machine(
        model,
        draw(st.sampled_from(list_gpus())),
        draw(st.sampled_from(allowed_layouts(model))),
        weights=draw(st.sampled_from(WEIGHTS)),
        kv=draw(st.sampled_from(["bf16", "fp8"])),
        skew=draw(st.sampled_from([0.0, 0.5])),
        kernels=draw(st.sampled_from(kernels)),
    )


class Shape(NamedTuple):
    """Like sequences that decode, and like prompt chunks."""

    sequences: int
    queries: int
    context: float
    """KV tokens of each before this pass."""
    logits: float
    """Share of the positions that need logits."""
    chunks: int = 0
    chunk_tokens: int = 0
    before: int = 0

    def read(self, reach: float) -> float:
        """KV tokens that all of them read where a query sees the last `reach`, itself included."""
        return self.sequences * min(self.context + self.queries, reach + self.queries - 1)

    def pairs(self, reach: float) -> float:
        seen = (min(self.context + i + 1, reach) for i in range(self.queries))
        return self.sequences * sum(seen)

    def chunk_read(self, reach: float) -> float:
        return self.chunks * min(self.before + self.chunk_tokens, reach + self.chunk_tokens - 1)

    def chunk_pairs(self, reach: float) -> float:
        short = min(self.chunk_tokens, max(0, reach - self.before))
        full = (self.chunk_tokens - short) * reach if short < self.chunk_tokens else 0.0
        return self.chunks * (short * self.before + short * (short + 1) / 2 + full)

    def on(self, cost: ForwardPass) -> PassLoad:
        """Return the pass as the cost model of a machine wants it."""
        positions, everything = self.sequences * self.queries, float("inf")
        chunks = self.chunks if self.chunk_tokens else 0
        return PassLoad(
            self.sequences,
            positions,
            positions * self.logits,
            self.read(everything),
            self.pairs(everything),
            chunks,
            chunks * self.chunk_tokens,
            self.chunk_read(everything) if chunks else 0.0,
            self.chunk_pairs(everything) if chunks else 0.0,
            tuple((self.read(reach), self.pairs(reach)) for reach in cost.reaches),
            tuple((self.chunk_read(reach), self.chunk_pairs(reach)) for reach in cost.reaches),
        )


@st.composite
def shapes(draw: st.DrawFn, *, prompts: bool = True) -> Shape:
    """Return a pass of decoding sequences, prompt chunks, or both."""
    sequences = draw(st.integers(0 if prompts else 1, 300))
    decode = Shape(
        sequences,
        draw(st.integers(1, 64)),
        draw(st.floats(0, 50_000)),
        draw(st.floats(0, 1)),
    )
    chunks = draw(st.integers(0 if sequences else 1, 4)) if prompts else 0
    prompt: dict[str, Any] = {
        "chunks": chunks,
        "chunk_tokens": draw(st.integers(1, 4000)) if chunks else 0,
        "before": draw(st.integers(0, 20_000)) if chunks else 0,
    }
    return decode._replace(**prompt)
