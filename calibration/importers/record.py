"""What a serving benchmark measured, whichever tool wrote it down: load, lengths and figures."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

LATENCIES: Final = ("ttft", "tpot", "itl", "ttlt", "per_token")
"""`itl`: gaps pooled over requests; `per_token`: TTLT / output tokens of each request."""
STATISTICS: Final = ("mean", "median", "p99")
RATES: Final = ("output_tokens_per_s", "requests_per_s")
FIGURES: Final = (
    *(f"{latency}_{statistic}_ms" for latency in LATENCIES for statistic in STATISTICS),
    *RATES,
)
"""Every figure that a benchmark may hold, by the one name it has here."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of the prompts (or answers), as far as the file tells."""

    mean: float
    """Mean over requests, tokens."""
    quantiles: tuple[tuple[float, float], ...] = ()
    """Tokens by probability from 0 to 1; empty where the spread is not told."""
    each: tuple[int, ...] = ()
    """Tokens request by request, where the file lists them."""
    asked: float | None = None
    """Nominal length, where the file tells it and no more."""


@dataclass(frozen=True, slots=True)
class Served:
    """What the file tells of the deployment; None where it does not."""

    model: str | None = None
    gpu: str | None = None
    engine: str | None = None
    weights: str | None = None
    kv_precision: str | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    expert_parallel: int | None = None
    attention_data_parallel: int | None = None
    replicas: int | None = None
    max_sequences: int | None = None
    memory_fraction: float | None = None
    deployment: tuple[tuple[str, object], ...] = ()
    """Further keys of a scenario's `deployment` that the file tells, already checked."""
    engine_options: tuple[tuple[str, object], ...] = ()
    decoding: str | None = None
    """Strategy by name."""

    @property
    def gpus(self) -> int:
        """GPUs of all replicas."""
        each = (self.tensor_parallel, self.pipeline_parallel, self.attention_data_parallel)
        return math.prod(width or 1 for width in (*each, self.replicas))


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One run of a serving benchmark: how it was driven, and what came out."""

    case: str
    tool: str
    inputs: Lengths
    outputs: Lengths
    prompts: int | None
    """Requests that were sent and answered; None where the file does not say."""
    figures: Mapping[str, float]
    """Measured figures by their name in `FIGURES`."""
    served: Served = Served()
    requests_per_s: float | None = None
    """Rate at which requests were sent; None: as fast as `users` allow."""
    burstiness: float = 1.0
    """Shape of the gamma gaps between requests; 1: Poisson arrivals."""
    users: int | None = None
    """Most requests in flight; None: no limit."""
    at_once: bool = False
    """The file says that neither a rate nor a limit held requests back."""
    failed: int = 0
    """Requests that failed."""
    duration_s: float | None = None
    suspect: bool = False
    """The file itself marks the run as doubtful."""
    speculative: bool = False
    """The server speculated: autoregressive decoding would be another run."""
    denoised: bool = False
    """The server is of a diffusion model: likewise."""
    notes: tuple[str, ...] = field(default=())

    @property
    def tells_load(self) -> bool:
        """Whether the file says how requests were sent."""
        return self.at_once or self.users is not None or self.requests_per_s is not None


@dataclass(frozen=True, slots=True)
class Unusable:
    """A run that holds no usable measurement, and why."""

    case: str
    reason: str


Read = Benchmark | Unusable

SPLIT: Final = "prefill and decode ran on servers of their own: not simulated"
"""Why a run on disaggregated servers is unusable."""
