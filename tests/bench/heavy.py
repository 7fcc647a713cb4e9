"""Long runs, each in a process of its own, for `bench.py`: prints what it took as JSON."""

import json
import resource
import sys
import time
from math import ceil
from statistics import median

from sim.metrics.measure import measure
from sim.scenario import Scenario, build_scenario, load_scenario, resolve
from tests.bench.bench import JOB, ROOT, job, timed_simulation

KIB = 1024
BESIDE = 3
DAY_REQUESTS, DAY_S, DAY_REPLICAS = 2_000_000, 86_400, 64


def day() -> Scenario:
    """Return a whole day whose rate follows the hours, two million requests on 64 replicas."""
    changes = [
        f"run.requests={DAY_REQUESTS}",
        f"workload.arrivals.requests_per_s={DAY_REQUESTS / DAY_S}",
        f"deployment.replicas={DAY_REPLICAS}",
    ]
    return load_scenario("day-8b-h100", changes)


def million() -> Scenario:
    """Return one million requests of J."""
    return job("autoregressive", 1_000_000)


def plain_s_per_request() -> float:
    """Return the CPU-seconds a request of J, before or after a long run on the same machine."""
    plain = job("autoregressive")
    cpu_s, _ = timed_simulation(plain)
    return cpu_s / plain.run.requests


def pressed() -> Scenario:
    """Return J at twice the rate in small passes that mix prompts in, with 60 % of its KV."""
    content = {**JOB, "deployment": {"max_sequences": 128, "max_batched_tokens": 512}}
    arrivals = {"kind": "poisson", "requests_per_s": 8}
    content["workload"] = {**JOB["workload"], "arrivals": arrivals}
    free = build_scenario(content, where="job", folder=ROOT)
    _, simulation = timed_simulation(free)
    tokens = 0.6 * simulation.kv_peak_share * simulation.kv_pool_tokens
    blocks = ceil(tokens / resolve(free).limits.kv.block_tokens)
    content["deployment"] = {**content["deployment"], "num_gpu_blocks": blocks}
    return build_scenario(content, where="job", folder=ROOT)


def main() -> None:
    """Simulate and measure the run that is named, from a start of the process to metrics.

    J is timed beside the million, in the same process before and after it: a machine that others
    use is not equally fast from minute to minute.
    """
    scenario = {"day": day, "million": million, "pressed": pressed}[sys.argv[1]]()
    started_s = time.process_time()
    beside = [plain_s_per_request() for _ in range(BESIDE)] if sys.argv[1] == "million" else []
    apart_s = time.process_time() - started_s
    cpu_s, simulation = timed_simulation(scenario)
    gpus = scenario.deployment.gpus
    measure(simulation, slo=scenario.slo, pipeline=scenario.pipeline, gpus=gpus, seed=0)
    whole_s = time.process_time() - apart_s
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    beside += [plain_s_per_request() for _ in beside]
    figures = {
        "cpu_s": whole_s,
        "simulation_cpu_s": cpu_s,
        "peak_bytes": peak,
        "requests": scenario.run.requests,
        "preemptions": int(simulation.records.preemptions.sum()),
        "plain_s_per_request": median(beside) if beside else None,
    }
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main()
