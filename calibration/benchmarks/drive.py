"""Drive the simulator as a benchmark drove the server: its load, its lengths, its prompts.

The deployment is that of a scenario, else what the file tells. Requests that come at a rate are an
open loop (gamma gaps of the benchmark's burstiness, stretched so that they last n / rate, or as
long as the duration of the run and its latencies tell: clients fall short of the rate asked for);
a limit on the requests in flight makes a closed loop; neither: all at once. A rate with a limit is
a closed loop where the measured rate stayed well below, so that the limit must have ruled.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from calibration.importers import Benchmark, Lengths
from calibration.importers.names import format_in, stand_in
from calibration.suites import PROMPTS_PER_USER
from calibration.validate.own import Own
from calibration.validate.recipes import default_sequences
from calibration.validate.replay import scenario_of
from calibration.validate.runs import MeasuredRun
from sim.engine import simulate
from sim.errors import InputError
from sim.records import FloatArray, IntArray, Simulation, Traffic
from sim.scenario import Scenario, resolve
from sim.units import MS_PER_S
from sim.workload import stream
from sim.workload.tables import QuantileTable

PROMPTS_OF_A_RATE: Final = 1000
"""Prompts of an open loop where the file does not say: the default of `vllm bench serve`."""
GIVE_DEPLOYMENT: Final = "give the deployment with --scenario"
GIVE_LOAD: Final = "give a scenario with the benchmark's `workload.arrivals` as --scenario"
DEFAULT_SEQUENCES: Final = 256
_RULES: Final = 0.9
"""Below this share of the asked rate, the limit on requests in flight ruled."""
_QUEUES: Final = 0.1
"""Share of TTFT in the whole latency above which requests may have queued."""
_BELIEVED: Final = 0.3
_SEED: Final = 0


def scenario_for(benchmark: Benchmark, base: Scenario | None) -> Scenario:
    """Return the deployment to simulate: that of `base`, else the one that the file tells."""
    if base is not None:
        _check_arrivals(benchmark, base)
        return base
    served = benchmark.served
    missing = [name for name in ("model", "gpu") if getattr(served, name) is None]
    if missing:
        raise InputError(
            f"the file does not name the {' and the '.join(missing)}",
            remedy=GIVE_DEPLOYMENT,
        )
    if benchmark.speculative:
        raise _speculated("")
    if benchmark.denoised:
        raise _denoised("")
    scenario = scenario_of(_as_run(benchmark), "engine")
    changes: dict[str, float | str | None] = {
        "replicas": served.replicas or 1,
        "pipeline_parallel": served.pipeline_parallel or 1,
    }
    if served.kv_precision is not None:
        changes["kv_precision"] = served.kv_precision
    if served.memory_fraction is not None and served.memory_fraction < 1:
        changes["memory_fraction"] = served.memory_fraction
    return scenario.with_deployment(**changes)


def _as_run(benchmark: Benchmark) -> MeasuredRun:
    """Return the deployment as a row of the table of measured runs, whose conventions hold."""
    served = benchmark.served
    named, other = served.model or "", stand_in(served.model or "")
    return MeasuredRun(
        case=benchmark.case,
        model=other or named,
        gpu=served.gpu or "",
        engine=served.engine or "generic",
        weights=served.weights or (other and format_in(named)) or "checkpoint",
        tensor_parallel=served.tensor_parallel or 1,
        expert_parallel=served.expert_parallel or 1,
        attention_data_parallel=served.attention_data_parallel or 1,
        concurrency=_sequences(benchmark),
        input_tokens=max(1, round(benchmark.inputs.asked or benchmark.inputs.mean)),
        output_tokens=max(1, round(benchmark.outputs.asked or benchmark.outputs.mean)),
        ttft_ms=1.0,
        tpot_ms=None,
        suspect=False,
        own=Own(served.deployment, served.engine_options, served.decoding),
    )


def _sequences(benchmark: Benchmark) -> int:
    """Return how many requests the server runs at once: as told, else the engine's default."""
    served = benchmark.served
    if served.max_sequences is not None:
        return served.max_sequences
    ranks = served.attention_data_parallel or 1
    default = default_sequences(served.engine or "", served.gpu or "", ranks)
    return default or max(DEFAULT_SEQUENCES, benchmark.users or 1)


def _check_arrivals(benchmark: Benchmark, base: Scenario) -> None:
    if benchmark.speculative and base.decoding.name != "speculative":
        raise _speculated(", the scenario does not")
    if benchmark.denoised and base.decoding.trained_for == "autoregressive":
        raise _denoised(", that of the scenario does not")


def _speculated(more: str) -> InputError:
    return InputError(
        f"the server speculated{more}",
        remedy="give a scenario with `decoding: {name: speculative, …}`",
    )


def _denoised(more: str) -> InputError:
    return InputError(
        f"the server's model denoises blocks{more}",
        remedy="give a scenario with `decoding: {name: block_diffusion, …}`",
    )


def users_of(benchmark: Benchmark, base: Scenario | None) -> int | None:
    """Return the users of the closed loop; None for an open loop."""
    rate, users = benchmark.requests_per_s, benchmark.users
    if rate is not None:
        reached = benchmark.figures.get("requests_per_s", rate)
        return users if users is not None and reached < _RULES * rate else None
    if users is not None:
        return users
    if not benchmark.tells_load:
        if base is None:
            raise InputError(
                "the file does not tell how requests were sent",
                remedy=GIVE_LOAD,
            )
        arrivals = base.workload.arrivals
        return arrivals.users if arrivals.kind == "closed_loop" else None
    return benchmark.prompts or 1


def rate_of(benchmark: Benchmark, base: Scenario | None) -> float | None:
    """Return the rate of the open loop, 1/s; None for a closed loop."""
    if users_of(benchmark, base) is not None:
        return None
    if benchmark.tells_load or base is None:
        return benchmark.requests_per_s
    return base.workload.offered_requests_per_s


def traffic_of(benchmark: Benchmark, base: Scenario | None) -> Traffic:
    """Return the requests as the benchmark sent them."""
    users = users_of(benchmark, base)
    rate = rate_of(benchmark, base)
    known = benchmark.prompts
    count = known or (PROMPTS_PER_USER * users if users else PROMPTS_OF_A_RATE)
    inputs = _drawn(benchmark.inputs, count, "input_tokens")
    outputs = _drawn(benchmark.outputs, count, "output_tokens")
    if users is not None or rate is None:
        at_once = min(users or count, count)
        return Traffic(np.zeros(count), inputs, outputs, measured=count, users=at_once)
    arrival_s = _arrivals(count, sending_s(benchmark, count / rate), benchmark.burstiness)
    return Traffic(arrival_s, inputs, outputs, measured=count)


def sending_s(benchmark: Benchmark, asked_s: float) -> float:
    """Return for how long requests were sent [s]: n / rate, or what the run itself tells."""
    return sending(benchmark, asked_s)[0]


def sending(benchmark: Benchmark, asked_s: float) -> tuple[float, str]:
    """Return for how long requests were sent [s], and why so, in words.

    Without a queue (TTFT a small part of TTLT) the run ended one latency after the last request
    was sent. The answer is believed within 30 % of what was asked for.
    """
    asked = "requests / rate asked for"
    wait_ms, between_ms = (_middle(benchmark, latency) for latency in ("ttft", "tpot"))
    if benchmark.duration_s is None:
        return asked_s, f"{asked}, as the file tells no duration"
    if wait_ms is None or between_ms is None:
        return asked_s, f"{asked}, as the file has no TTFT or no TPOT"
    answer_ms = between_ms * max(benchmark.outputs.mean - 1, 0)
    if wait_ms > _QUEUES * (wait_ms + answer_ms):
        return asked_s, f"{asked}, as TTFT is more than {_QUEUES:.0%} of a latency (a queue)"
    told_s = benchmark.duration_s - (wait_ms + answer_ms) / MS_PER_S
    if abs(told_s / asked_s - 1) > _BELIEVED:
        return asked_s, f"{asked}, as the duration tells a time over {_BELIEVED:.0%} off"
    return told_s, "duration less one latency, as the run tells"


def _middle(benchmark: Benchmark, latency: str) -> float | None:
    """Return the mean, or the median where there is none [ms]."""
    named = (f"{latency}_mean_ms", f"{latency}_median_ms")
    return next((benchmark.figures[name] for name in named if name in benchmark.figures), None)


def _arrivals(count: int, lasting_s: float, burstiness: float) -> FloatArray:
    """Return gamma gaps of shape `burstiness`, summed and stretched to `lasting_s` [s]."""
    times: FloatArray = np.cumsum(stream(_SEED, "arrivals").standard_gamma(burstiness, count))
    return times * float(lasting_s / times[-1])


def _drawn(lengths: Lengths, count: int, purpose: str) -> IntArray:
    """Return one length a request: as listed, else spread evenly over what is known of them."""
    if lengths.each:
        return np.resize(np.asarray(lengths.each, np.int64), count)
    ranks = (np.arange(count) + 0.5) / count
    if lengths.quantiles:
        probabilities, tokens = zip(*lengths.quantiles, strict=True)
        drawn = QuantileTable.of(probabilities, tokens).tokens_at(ranks)
    else:
        low = int(lengths.mean)  # so that the mean over all requests is that of the file
        drawn = np.where(ranks < lengths.mean - low, low + 1, low).astype(np.int64)
    mixed: IntArray = stream(_SEED, purpose).permutation(np.maximum(drawn, 1))
    return mixed


def drive(benchmark: Benchmark, base: Scenario | None) -> tuple[Scenario, Simulation]:
    """Simulate one benchmark; return the scenario that stood for it, too."""
    scenario = scenario_for(benchmark, base)
    serving, strategy = resolve(scenario), scenario.decoding
    traffic = traffic_of(benchmark, base)
    limits = serving.limits
    if base is None and benchmark.served.max_sequences is not None:
        limits = replace(limits, max_sequences=benchmark.served.max_sequences)
    passes = strategy.draw_passes(traffic.output_tokens, stream(_SEED, "acceptance"))
    done = simulate(traffic, passes, strategy, serving.cost, limits, draft_cost=serving.draft_cost)
    return scenario, done
