"""What may be set of a serving engine, in the units of YAML: a preset sets all, a scenario any."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, model_validator

MemoryRule = Literal["share_of_memory", "share_of_free"]
SchedulerKind = Literal["chunked_prefill", "prefill_first", "decode_first", "static_batching"]
KvReserve = Literal["on_demand", "whole_answer"]
GraphSizes = Annotated[tuple[Annotated[int, Ge(0), Le(1 << 20)], ...], Field(max_length=4096)]
Microseconds = Annotated[float, Ge(0), Le(1_000_000), Field(allow_inf_nan=False)]


class EngineOptions(BaseModel):
    """Habits of a serving engine; a key that is left out stays as the engine's preset has it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    memory_rule: MemoryRule | None = None
    """What `memory_fraction` is a share of: the whole memory of a GPU (weights and reserve come
    out of it), or what weights and reserve leave free."""
    memory_fraction: Annotated[float, Gt(0), Le(1)] | None = None
    """Share of memory for a deployment that names none."""
    memory_reserve_gb: Annotated[float, Ge(0), Le(64)] | None = None
    """Per GPU, for activations, graphs and runtime, GB (1e9 bytes)."""
    kv_reserve: KvReserve | None = None
    """KV blocks are taken as tokens come, or for the whole answer when a request is admitted."""
    scheduler: SchedulerKind | None = None
    """Scheduler of a scenario that names none."""
    graph_batch_sizes: GraphSizes | None = None
    """Tokens per pass for which CUDA graphs are captured, rising; a smaller pass is padded to the
    next of them, a larger one runs without a graph. Empty or absent: every size is captured, no
    padding, no limit, so that no pass without prompts pays launches, whole-sequence diffusion
    included. Eager mode is `[0]`: no pass has a graph."""
    eager_host_us_per_pass: Microseconds | None = None
    """More host time for a pass beyond the largest graph, µs."""
    asynchronous: bool | None = None
    """The host prepares the next pass while the GPU computes: a pass takes the longer of both
    instead of their sum."""
    host_us_per_pass: Microseconds | None = None
    host_us_per_sequence: Annotated[float, Ge(0), Le(100_000)] | None = None
    """Per pass, for each sequence in it, µs."""
    host_us_per_prefill_pass: Microseconds | None = None
    """More host time for a pass that holds prompts, µs."""
    host_us_per_prompt: Microseconds | None = None
    """More host time for each prompt in a pass, µs."""
    host_us_per_launch: Annotated[float, Ge(0), Le(1_000)] | None = None
    """Host time for each kernel of a pass that no CUDA graph holds, µs: the pass takes at least
    the launches of its kernels. Graphs hold passes up to the largest of `graph_batch_sizes`;
    without these, all passes but those with prompts."""
    small_kernels_us_per_layer: Annotated[float, Ge(0), Le(1_000)] | None = None
    """Norms, rotary embedding, write to the cache, activation and gaps between kernels, µs per
    layer and pass, of a layer with five such kernels (Llama); other layers by their number. Used
    where a kernel fit has none of its own."""
    all_reduce_of: Literal["sglang", "trtllm", "vllm"] | None = None
    """The engine whose all-reduce it takes: its timings stand in, where there are any."""
    mxfp4_experts_of: Literal["sglang", "trtllm", "vllm"] | None = None
    """The same of routed experts in MXFP4 (vLLM on Blackwell, told to quantise activations to
    MXFP8, runs the kernels of TensorRT-LLM)."""
    fp8_block_experts_of: Literal["sglang", "trtllm", "vllm", "vllm_triton"] | None = None
    """The same of routed experts in blocks of FP8: vLLM 0.16 on Hopper takes FlashInfer's CUTLASS
    experts, which are those of TensorRT-LLM. `vllm_triton`: Triton's of vLLM, which it runs on
    Blackwell where FlashInfer's and DeepGEMM's are switched off."""
    quantise_us_per_product: Annotated[float, Ge(0), Le(100)] | None = None
    """Kernel of its own that quantises the activations of a product in 8 or 4 bits, µs; 0 where
    the engine fuses it into the kernel before."""
    expert_prompt_factor: Annotated[float, Ge(0), Le(4)] | None = None
    """In models with routed experts, what prompts add to the GPU time of a pass, times this: in
    serving it takes longer than the timings of its kernels, one by one, add up to."""
    stream_interval_tokens: Annotated[int, Ge(1), Le(4096)] | None = None
    """An answer is handed out every so many tokens, and at its end."""
    stream_first_token: bool | None = None
    """With an interval: the first token is handed out at once, alone."""
    pick_up_passes: Annotated[int, Ge(0), Le(10_000)] | None = None
    """A prompt that comes while passes run is seen only after so many more of them."""
    pick_up_every_passes: Annotated[int, Ge(1), Le(10_000)] | None = None
    """The engine looks for new prompts only after so many passes that hold none, and after each
    pass that does."""
    hold_passes: Annotated[int, Ge(0), Le(10_000)] | None = None
    """While others decode, prompts are held for up to so many passes, to batch them."""
    hold_token_share: Annotated[float, Ge(0), Le(1)] | None = None
    """Tokens waiting and decoding, as a share of the budget, from which nothing is held."""
    front_end_tokens_per_s: Annotated[float, Ge(1), Le(1e9)] | Literal["unlimited"] | None = None
    """Rate at which one process hands out the tokens of all users of a replica."""
    ttft_offset_ms: Annotated[float, Ge(0), Le(60_000)] | None = None
    """From a request's arrival until the engine sees it, ms: HTTP, queues of the front end."""
    tokenise_us_per_token: Annotated[float, Ge(0), Le(1_000)] | None = None
    """More of that for each token of the prompt, µs: its text is made tokens first."""

    @model_validator(mode="after")
    def _graphs_rise(self) -> Self:
        sizes = self.graph_batch_sizes or ()
        if any(later <= earlier for earlier, later in pairwise(sizes)):
            msg = "graph_batch_sizes should rise from each size to the next"
            raise ValueError(msg)
        return self

    @property
    def chosen(self) -> dict[str, object]:
        """The keys that are set, with their values."""
        return {
            name: value
            for name in type(self).model_fields
            if (value := getattr(self, name)) is not None
        }
