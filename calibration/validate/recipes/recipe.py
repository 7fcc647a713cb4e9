"""How a run's server was started, as far as a script or the engine's documentation says."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from calibration.validate.runs import MeasuredRun
from sim.errors import SimError
from sim.hardware import load_gpu
from sim.precision import Precision
from sim.units import GIB

Settings = Literal["suite", "engine"]
"""Whose settings stand where the table says nothing: the suite's scripts, or the engine's."""

MAX_BATCHED_TOKENS: Final = 8192
"""Token budget of a pass: the default of TensorRT-LLM, of vLLM and SGLang on a GPU with 80 GB, and
what most of the scripts set."""
FP8_KV_ENGINES: Final = frozenset({"trtllm"})
"""Engines that keep the KV cache of a quantised checkpoint in FP8 when nothing is said about it.

TensorRT-LLM takes the cache's format from the checkpoint's quantisation file, which says FP8. vLLM
and SGLang document `auto` as the data type of the model, which is bf16 for an FP8 checkpoint too.
"""
_VLLM_LARGE_GIB: Final = 70
_SGLANG_TOKENS: Final = ((35, 2048), (60, 4096), (160, 8192))
"""Below so much memory [GiB], so many tokens; above, 16,384 (B200)."""
SUITE: Final = "InferenceX (github.com/SemiAnalysisAI/InferenceX)"
GENERATED: Final = "AIConfigurator (github.com/ai-dynamo/aiconfigurator)"
GENERATED_LENGTHS: Final = frozenset(
    (prompt, answer) for prompt in (1000, 2000, 4000, 8000) for answer in (100, 500, 1000, 2000)
)
"""Prompt and answer of the runs of that team: servers by its generator, load by genai-perf."""
Spread = Literal["below", "around"]
"""Whether the nominal length of a run is the longest, or the mean, as genai-perf takes it."""
LENGTHS: Final = frozenset({(1024, 1024), (1024, 8192), (8192, 1024)})
"""Prompt and answer of the suite's three sweeps: by them, its runs are known."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a run's server was started, beside what its row says."""

    kv_precision: Precision
    engine_options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    max_batched_tokens: int = MAX_BATCHED_TOKENS
    """Token budget of a pass, of all ranks of data-parallel attention together."""
    expert_parallel: int = 1
    decoding: Mapping[str, object] | str = field(
        default_factory=lambda: MappingProxyType({"name": "autoregressive"})
    )
    scheduler: Mapping[str, object] | None = None
    """None: the engine's own."""
    script: str = ""
    """File and commit of the script; empty: the engine's own defaults."""
    lengths: Spread = "below"
    """Where the lengths of prompts and answers lie, seen from the nominal ones."""


def default_kv(run: MeasuredRun) -> Precision:
    """Return the KV cache's format where nothing is said about it."""
    return "fp8" if run.weights == "fp8" and run.engine in FP8_KV_ENGINES else "bf16"


def default_tokens(run: MeasuredRun) -> int:
    """Return the budget of a pass where nothing is said about it, of all ranks together.

    vLLM takes 8,192 tokens on GPUs with 70 GiB or more that are no A100, else 2,048
    (`EngineArgs.get_batch_defaults`); SGLang goes by the memory, for all ranks
    together (`ServerArgs._handle_gpu_memory_settings`); TensorRT-LLM has one number.
    """
    try:
        memory_gib = load_gpu(run.gpu).memory_bytes.value / GIB
    except SimError:
        return MAX_BATCHED_TOKENS  # the run is refused, with the reason
    if run.engine == "sglang":
        return next(
            (tokens for below_gib, tokens in _SGLANG_TOKENS if memory_gib < below_gib), 16384
        )
    small = run.engine == "vllm" and (memory_gib < _VLLM_LARGE_GIB or "a100" in run.gpu)
    return (2048 if small else MAX_BATCHED_TOKENS) * run.attention_data_parallel


def default_sequences(engine: str, gpu: str, ranks: int) -> int | None:
    """Return how many sequences an engine runs at once, all ranks together, if nothing says it.

    vLLM: 1,024 on GPUs with 70 GiB or more that are no A100, else 256
    (`EngineArgs.get_batch_defaults`, since 0.9; 256 before). SGLang: 2,048 or more, up to 4,096
    as the pool has room (`max_running_requests` is None). TensorRT-LLM: `max_batch_size` = 2,048.
    Each is a number of one rank. None: the engine is none of these.
    """
    try:
        memory_gib = load_gpu(gpu).memory_bytes.value / GIB
    except SimError:
        return None  # the run is refused, with the reason
    small = memory_gib < _VLLM_LARGE_GIB or "a100" in gpu
    each = {"vllm": 256 if small else 1024, "sglang": 2048, "trtllm": 2048}.get(engine)
    return None if each is None else each * ranks


def defaults(run: MeasuredRun) -> Recipe:
    """Return the engine's own defaults, and experts spread as the row says."""
    return Recipe(
        default_kv(run),
        max_batched_tokens=default_tokens(run),
        expert_parallel=run.expert_parallel,
    )


@dataclass(frozen=True, slots=True)
class Script:
    """What one server script of the suite sets; what is left out stays the engine's default."""

    name: str
    """File under `benchmarks/`, `@`, commit."""
    family: str
    weights: str
    """fp8, fp4 (MXFP4 and NVFP4 are labelled alike), int4 or bf16."""
    gpus: tuple[str, ...]
    kv_precision: Precision | None = None
    memory_fraction: float | None = None
    max_batched_tokens: int = MAX_BATCHED_TOKENS
    """Token budget of a pass; of each rank, save in SGLang, which shares it out over them."""
    prompts_per_pass: int = 0
    """Where the budget is so many prompts of the run's length."""
    pick_up_every_passes: int | None = None
    pick_up_every_passes_many: int | None = None
    """The same from `many_users` on."""
    many_users: int = 16
    stream_interval_tokens: int = 1
    mxfp4_experts_of: str | None = None
    largest_graph: int = 0
    """Tokens of vLLM's largest captured pass (`--max-cudagraph-capture-size`)."""

    def fits(self, run: MeasuredRun, family: str) -> bool:
        """Whether a run can be one that this script served."""
        label = "fp4" if run.weights in {"mxfp4", "nvfp4"} else run.weights
        return (self.family, self.weights) == (family, label) and run.gpu in self.gpus

    def recipe(self, run: MeasuredRun) -> Recipe:
        """Return the settings of a run that this script served."""
        ranks = 1 if run.engine == "sglang" else run.attention_data_parallel
        tokens = self.prompts_per_pass * run.input_tokens or self.max_batched_tokens
        return Recipe(
            self.kv_precision or default_kv(run),
            engine_options=dict(self._options(run)),
            max_batched_tokens=tokens * ranks,
            expert_parallel=run.expert_parallel,
            script=self.name,
        )

    def _options(self, run: MeasuredRun) -> Iterator[tuple[str, object]]:
        if self.memory_fraction is not None:
            yield "memory_fraction", self.memory_fraction
        many = run.concurrency >= self.many_users
        passes = self.pick_up_every_passes_many if many else None
        passes = self.pick_up_every_passes if passes is None else passes
        if passes is not None:
            yield "pick_up_every_passes", passes
        if self.mxfp4_experts_of is not None:
            yield "mxfp4_experts_of", self.mxfp4_experts_of
        if self.largest_graph:
            yield "graph_batch_sizes", graph_sizes(self.largest_graph)
        if self.stream_interval_tokens > 1:
            yield from streaming(self.stream_interval_tokens).items()


def streaming(interval_tokens: int) -> dict[str, object]:
    """Return the options of an answer that is handed out every so many tokens.

    All three engines hand out the first token at once: SGLang where `len(output_ids) %
    stream_interval == 1` (scheduler_output_processor_mixin.py); the others by their presets.
    """
    return {"stream_interval_tokens": interval_tokens, "stream_first_token": True}


def graph_sizes(largest: int) -> list[int]:
    """Return the passes that vLLM captures up to a size: 1, 2, 4, by 8 to 256, by 16 beyond.

    `VllmConfig._set_cudagraph_sizes` of vllm/config/vllm.py, 0.12 to 0.19.
    """
    sizes = (1, 2, 4, *range(8, 256, 8), *range(256, largest + 1, 16))
    return [size for size in sizes if size <= largest]


def of_script(scripts: Iterable[Script], run: MeasuredRun, family: str) -> Recipe | None:
    """Return what the first script that fits a run sets."""
    return next((script.recipe(run) for script in scripts if script.fits(run, family)), None)
