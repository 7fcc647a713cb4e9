"""How fast the simulator is: `make bench`. CPU-seconds, median of three, on the machine named.

No figure of time belongs into a test, so they are here. `--day` adds a day of two million
requests, `--million` a million of J, `--trace FILE` names the Azure trace elsewhere.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from sim.engine import simulate
from sim.records import Simulation
from sim.scenario import Scenario, build_scenario, resolve
from sim.units import GB
from sim.workload import stream

ROOT = Path(__file__).resolve().parents[2]
SLIDER, HEAVY = (Path(__file__).with_name(name) for name in ("slider.py", "heavy.py"))
REPEATS = 3
COMMAND = (sys.executable, "-c", "from app.cli.main import main; main()")

JOB: Mapping[str, Any] = {
    "name": "job-j",
    "model": "llama-3.1-8b",
    "hardware": "a100_sxm_80gb",
    "deployment": {"max_sequences": 128},
    "workload": {
        "arrivals": {"kind": "poisson", "requests_per_s": 4},
        "input_tokens": {"kind": "fixed", "tokens": 512},
        "output_tokens": {"kind": "fixed", "tokens": 256},
    },
    "run": {"requests": 10_000},
}
STRATEGIES: Mapping[str, Mapping[str, Any]] = {
    "autoregressive": {"name": "autoregressive"},
    "speculative chain": {
        "name": "speculative",
        "draft_tokens": 3,
        "conditional_acceptance": [0.70, 0.65, 0.60],
        "draft": {"work_share": 0.14},
    },
    "block diffusion": {
        "name": "block_diffusion",
        "block_tokens": 32,
        "denoise_passes": 8,
        "what_if": True,
    },
}
AZURE: Mapping[str, Any] = {
    "name": "azure-conversation",
    "model": "llama-3.1-70b",
    "hardware": "h100_sxm",
    "deployment": {"tensor_parallel": 2, "replicas": 4, "weights": "fp8", "kv_precision": "fp8"},
}
PEERS = (
    "For J, whole process, measured earlier on the same kind of machine: AISimulate 0.13"
    " 3.2 CPU-s, Vidur 19 to 22, BLIS 21 to 26."
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; a figure without an aim is there to be known."""

    what: str
    value: float
    unit: str
    aim: float | None = None
    at_least: bool = False
    """The aim is a floor, not a ceiling."""

    @property
    def verdict(self) -> str:
        """Tell whether the aim is reached."""
        if self.aim is None:
            return ""
        reached = self.value >= self.aim if self.at_least else self.value <= self.aim
        return "ok" if reached else "missed"

    def cells(self) -> tuple[str, str, str, str]:
        """Return the figure as text."""
        sign = "≥" if self.at_least else "≤"
        aim = "" if self.aim is None else f"{sign} {_number(self.aim)}"
        return self.what, f"{_number(self.value)} {self.unit}", aim, self.verdict


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def job(strategy: str, requests: int = 10_000) -> Scenario:
    """Return J decoded by a strategy."""
    content = {**JOB, "decoding": STRATEGIES[strategy], "run": {"requests": requests}}
    return build_scenario(content, where="job", folder=ROOT)


def timed_simulation(scenario: Scenario) -> tuple[float, Simulation]:
    """Simulate (nothing else) and return CPU-seconds with the result."""
    serving, seed, strategy = resolve(scenario), scenario.run.seed, scenario.decoding
    traffic = scenario.workload.draw(scenario.run.requests, seed)
    passes = strategy.draw_passes(traffic.output_tokens, stream(seed, "acceptance"))
    started_s = time.process_time()
    simulation = simulate(traffic, passes, strategy, serving.cost, serving.limits)
    return time.process_time() - started_s, simulation


@cache
def _bytecode() -> "tempfile.TemporaryDirectory[str]":
    """Return a folder for the bytecode of what is measured; it goes when this process ends."""
    return tempfile.TemporaryDirectory()


def environment() -> dict[str, str]:
    """Return the environment of a process: one that finds bytecode, as an installed program does.

    Without it a process compiles all sources anew, which takes 0.4 s (`make` sees to it, and pip
    at each installation), wherever `PYTHONDONTWRITEBYTECODE` keeps a checkout from having any.
    """
    given = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return given | {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": _bytecode().name}


def command_cpu_s(*command: str) -> float:
    """Return the CPU-seconds of a whole process; exit code 1 is an answer, too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=False)
    if done.returncode not in {0, 1}:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr.decode().strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def simulations() -> list[Figure]:
    """J by three strategies."""
    figures = []
    for name in STRATEGIES:
        scenario = job(name)
        runs = [timed_simulation(scenario) for _ in range(REPEATS)]
        cpu_s, simulation = median(cpu for cpu, _ in runs), runs[0][1]
        requests, plain = scenario.run.requests, name == "autoregressive"
        aim = 40_000 if plain else 25_000
        passes = int(simulation.leaps.passes.sum())
        figures += [
            Figure(f"J, {name}: simulation", cpu_s, "CPU-s", 0.25 if plain else None),
            Figure("  requests per CPU-second", requests / cpu_s, "", aim, at_least=True),
            Figure("  events per request", simulation.events / requests, ""),
            Figure("  passes per event", passes / simulation.events, ""),
        ]
    return figures


def commands(trace: Path | None) -> list[Figure]:
    """Whole processes, start-up included."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.yaml"
        file.write_text(json.dumps(JOB), encoding="utf-8")  # JSON is YAML, too
        figures = [_command("J: whole process", 1.2, *COMMAND, "run", str(file), "--json")]
        if trace is not None:
            replay = {"arrivals": {"kind": "trace", "path": str(trace)}}
            file.write_text(json.dumps({**AZURE, "workload": replay}), encoding="utf-8")
            title = "Azure conversation trace, whole command"
            figures.append(_command(title, 2.0, *COMMAND, "run", str(file), "--json"))
    return [
        *figures,
        _command("paretoken run chat-70b-h100", 2.0, *COMMAND, "run", "chat-70b-h100"),
        _command("paretoken --help", 0.3, *COMMAND, "--help"),
        _command("import sim", 0.5, sys.executable, "-c", "import sim"),
        _command("import sim.run", 0.5, sys.executable, "-c", "import sim.run"),
    ]


def _command(what: str, aim_s: float, *command: str) -> Figure:
    command_cpu_s(*command)  # leaves its bytecode behind
    return Figure(what, median(command_cpu_s(*command) for _ in range(REPEATS)), "CPU-s", aim_s)


def alone(name: str) -> dict[str, float]:
    """Return what `heavy.py` finds out about one run, in a process of its own."""
    command = [sys.executable, str(HEAVY), name]
    done = subprocess.run(command, env=environment(), capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def pressure() -> list[Figure]:
    """J with chunked prefill, and 60 % of the KV that it would take."""
    found = [alone("pressed") for _ in range(REPEATS)]
    cpu_s, requests = median(one["simulation_cpu_s"] for one in found), found[0]["requests"]
    return [
        Figure("J at 8/s in small passes, 60 % of its KV: simulation", cpu_s, "CPU-s"),
        Figure("  requests per CPU-second", requests / cpu_s, "", 15_000, at_least=True),
        Figure("  preemptions per request", found[0]["preemptions"] / requests, ""),
    ]


def heavy(name: str, title: str, aim_s: float, aim_gb: float) -> list[Figure]:
    """Return the figures of a long run, from the start of its process to metrics."""
    found = alone(name)
    figures = [
        Figure(f"{title}: whole process", found["cpu_s"], "CPU-s", aim_s),
        Figure("  simulation alone", found["simulation_cpu_s"], "CPU-s"),
        Figure("  peak memory", found["peak_bytes"] / GB, "GB", aim_gb),
    ]
    if found["plain_s_per_request"]:
        each_s = found["simulation_cpu_s"] / found["requests"]
        relative = each_s / found["plain_s_per_request"]
        figures.append(Figure("  time per request / J's", relative, "×", 1.15))
    return figures


def machine() -> str:
    """Name processor, cores and Python."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(named, platform.processor() or platform.machine())
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}"


def azure_trace(given: Path | None) -> Path | None:
    """Return the trace, or None where there is none."""
    shared = Path(os.environ.get("PARETOKEN_SHARED", ROOT.parent / "shared" / "data"))
    path = given or shared / "traces" / "AzureLLMInferenceTrace_conv_2023.csv"
    return path.absolute() if path.is_file() else None


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--million", action="store_true", help="add a run of a million requests")
    parser.add_argument("--day", action="store_true", help="add a day of two million requests")
    parser.add_argument("--trace", type=Path, help="the Azure conversation trace of 2023")
    options = parser.parse_args()
    trace = azure_trace(options.trace)
    figures = [*simulations(), *pressure(), *commands(trace)]
    if options.day:
        figures += heavy("day", "A day, 2 million requests, 64 replicas", 120.0, 2.0)
    if options.million:
        figures += heavy("million", "One million of J", 30.0, 1.5)
    table = Table(title=f"CPU-seconds, median of {REPEATS}\n{machine()}", title_justify="left")
    for column, side in (("what", "left"), ("measured", "right"), ("aim", "right"), ("", "left")):
        table.add_column(column, justify=side)  # type: ignore[arg-type]
    for figure in figures:
        table.add_row(*figure.cells())
    console = Console()
    console.print(table)
    console.print(PEERS)
    if trace is None:
        console.print("The Azure trace is not here: name it with --trace FILE.")
    if SLIDER.exists():
        subprocess.run([sys.executable, str(SLIDER)], cwd=ROOT, check=False)


if __name__ == "__main__":
    main()
