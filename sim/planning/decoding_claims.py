"""What is said of decoding strategies, measured: each claim is a few figures of one simulation.

Words and figures are made in `report`. Every claim has a question that the figures answer, also
where the answer is no.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from sim.cost import even_load
from sim.decoding import (
    AnyStrategy,
    Autoregressive,
    BlockDiffusion,
    Diffusion,
    Speculative,
    published_variant,
)
from sim.decoding.denoising import TokensPerPass
from sim.planning.anatomy import anatomy
from sim.planning.drift import Drift, drift
from sim.planning.steady import serve_users
from sim.planning.strategies import entries_of
from sim.scenario import Scenario, build_scenario, resolve
from sim.workload import ClosedLoop, Fixed

MODEL: Final = "llama-3.1-8b"
PROMPT: Final = 512
ANSWER: Final = 256
LENGTHS: Final = (64, 256, 1024, 4096)
SHORT: Final = (4, 16, 32, 64, 256)
BATCHES: Final = (1, 4, 16, 64, 256)
FIXED_PASSES: Final = 64
"""K of the idealised schedule."""
BLOCKS: Final = BlockDiffusion(block_tokens=32, denoise_passes=8, what_if=True)
IDEALISED: Final = Diffusion(cache="dual", denoise_passes=FIXED_PASSES, what_if=True)
IN_STEP: Final = Diffusion(
    cache="dual",
    block_tokens=32,
    denoise_passes=TokensPerPass(tokens_per_pass=4.0),
    what_if=True,
)


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: x, and what was simulated there."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]

    @property
    def growth(self) -> float:
        """Last value over the first one."""
        return self.y[-1] / self.y[0]


@cache
def machine() -> Scenario:
    """Return the deployment of all claims: one replica of one GPU."""
    return build_scenario(
        {
            "name": "decoding-claims",
            "model": MODEL,
            "hardware": "h100_sxm",
            "deployment": {"max_sequences": 512, "max_batched_tokens": 8192},
            "workload": {
                "arrivals": {"kind": "closed_loop", "users": 1},
                "input_tokens": {"kind": "fixed", "tokens": PROMPT},
                "output_tokens": {"kind": "fixed", "tokens": ANSWER},
            },
        },
        where="decoding claims",
        folder=Path(),
    )


def times_by_length(strategy: AnyStrategy, label: str, lengths: tuple[int, ...]) -> Series:
    """Return the time to the last token of a request alone, s, by the length of its answer."""
    entry = entries_of([strategy])[0]
    times = tuple(anatomy(machine(), entry, output_tokens=n).total_s for n in lengths)
    return Series(label, tuple(map(float, lengths)), times)


def throughput_by_batch(strategy: AnyStrategy, label: str) -> Series:
    """Return the steady throughput of so many users, output tokens/s."""
    asked = machine().with_decoding(strategy)
    rates = tuple(
        serve_users(asked, users, max(100, 2 * users)).metrics.throughput.output_tokens_per_s or 0
        for users in BATCHES
    )
    return Series(label, tuple(map(float, BATCHES)), rates)


def pass_by_batch() -> Series:
    """Return the time of an autoregressive pass, s, by its sequences, at 768 tokens of context."""
    cost = resolve(machine()).cost
    times = tuple(cost.pass_s(even_load(cost, users, 768.0)) for users in BATCHES)
    return Series("pass", tuple(map(float, BATCHES)), times)


@dataclass(frozen=True, slots=True)
class Lever:
    """What a request costs after a change, over what it cost before."""

    what: str
    relative: float


def _gpu_s(scenario: Scenario, users: int) -> float:
    """Return the GPU-seconds of a request at a steady batch."""
    rates = serve_users(scenario, users, max(100, 2 * users)).metrics.throughput
    return 1.0 / (rates.requests_per_s or float("inf"))


def _of_lengths(scenario: Scenario, prompt: int, answer: int) -> Scenario:
    lengths = {"input_tokens": Fixed(tokens=prompt), "output_tokens": Fixed(tokens=answer)}
    return scenario.with_workload(scenario.workload.model_copy(update=lengths))


def levers(users: int = 64) -> tuple[Lever, ...]:
    """Return what halving the answer does to the cost of a request, and what other things do."""
    plain = machine()
    before = _gpu_s(plain, users)
    changes = {
        "half the answer": _gpu_s(_of_lengths(plain, PROMPT, ANSWER // 2), users),
        "half the prompt": _gpu_s(_of_lengths(plain, PROMPT // 2, ANSWER), users),
        "weights and KV in FP8": _gpu_s(
            plain.with_deployment(weights="fp8", kv_precision="fp8"), users
        ),
        f"{4 * users} users at once": _gpu_s(plain, 4 * users),
        f"{users // 4} users at once": _gpu_s(plain, users // 4),
        "blocks of 32 in 8 passes": _gpu_s(plain.with_decoding(BLOCKS), users),
    }
    return tuple(Lever(what, after / before) for what, after in changes.items())


@dataclass(frozen=True, slots=True)
class DecodingClaims:
    """All that is measured for the claims of decoding."""

    scenario: Scenario
    by_length: Series
    """Time to the last token, s, one token a pass."""
    fixed: Series
    """The same with so many passes whatever the length."""
    in_step: Series
    """The same with as many passes as the length asks for."""
    pass_times: Series
    plain: Series
    """Throughput over users, one token a pass."""
    blocks: Series
    """The same with blocks."""
    short_plain: Series
    """Time to the last token of short answers, s."""
    short_blocks: Series
    levers: tuple[Lever, ...]
    drift: Drift
    """EAGLE-3 at sixteen users, as acceptance falls."""

    @property
    def crossover(self) -> tuple[float, float]:
        """Users between which one token a pass overtakes blocks."""
        ahead = [b > p for b, p in zip(self.blocks.y, self.plain.y, strict=True)]
        place = ahead.index(False)
        return self.plain.x[place - 1], self.plain.x[place]


def decoding_claims() -> DecodingClaims:
    """Measure every claim."""
    plain = Autoregressive()
    return DecodingClaims(
        scenario=machine(),
        by_length=times_by_length(plain, "one token a pass", LENGTHS),
        fixed=times_by_length(IDEALISED, f"{FIXED_PASSES} passes whatever the length", LENGTHS),
        in_step=times_by_length(IN_STEP, "a pass for four tokens", LENGTHS),
        pass_times=pass_by_batch(),
        plain=throughput_by_batch(plain, "one token a pass"),
        blocks=throughput_by_batch(BLOCKS, "blocks of 32 in 8 passes"),
        short_plain=times_by_length(plain, "one token a pass", SHORT),
        short_blocks=times_by_length(BLOCKS, "blocks of 32 in 8 passes", SHORT),
        levers=levers(),
        drift=_drift(),
    )


def _drift() -> Drift:
    """Let the acceptance of a published drafter fall."""
    chain = Speculative.model_validate(published_variant("eagle3", [MODEL]))
    users = ClosedLoop(users=16)
    workload = machine().workload.model_copy(update={"arrivals": users})
    asked = machine().with_workload(workload, 160).with_decoding(chain)
    return drift(asked, at=(1.0, 0.8, 0.6, 0.4, 0.2, 0.0))
