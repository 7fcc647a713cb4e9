"""Result files of benchmarks against the simulator: `validate_benchmark` is the door."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final

from calibration.benchmarks.drive import (
    PROMPTS_OF_A_RATE,
    drive,
    rate_of,
    sending,
    users_of,
)
from calibration.benchmarks.figures import figures_of
from calibration.benchmarks.output import load_label
from calibration.benchmarks.plausible import contradiction
from calibration.benchmarks.reading import read_file
from calibration.benchmarks.result import BenchmarkValidation, Beside, Driven
from calibration.benchmarks.table_row import TOOL as TABLE
from calibration.cells import unfinished
from calibration.importers import Benchmark, Unusable
from calibration.importers.names import stand_in
from calibration.suites import PROMPTS_PER_USER
from calibration.validate.replay import Refusal, Statistic
from calibration.validate.told import renamings
from calibration.validate.units import check_units, doubtful_units
from sim.errors import InputError, SimError
from sim.model import load_model
from sim.processes import Failed, map_tasks
from sim.scenario import Scenario
from sim.units import counted

FEWEST_FOR_A_POOL: Final = 4
"""Fewer runs than this are done before a second process has started."""

CHANGE_LOAD: Final = "change `workload.arrivals` with --set"


def validate_benchmark(
    path: Path,
    *,
    scenario: Scenario | None = None,
    ttft_statistic: Statistic = "mean",
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> BenchmarkValidation:
    """Simulate every run of a file as its benchmark drove it, and compare all its figures.

    `scenario` is the deployment, where the file does not tell it; the load, the lengths and the
    number of prompts are those of the file. A run that cannot be used is refused with its reason.
    """
    found = [_usable(run) for run in read_file(path, ttft_statistic)]
    runs = [run for run in found if isinstance(run, Benchmark)]
    results = iter(_predict_all(runs, scenario, workers, progress))
    compared: list[Beside] = []
    refused: list[Refusal] = []
    for run in found:
        result = next(results) if isinstance(run, Benchmark) else Refusal(run.case, run.reason)
        if isinstance(run, Benchmark) and isinstance(result, Driven):
            compared.append(Beside(run, result))
        elif isinstance(result, Refusal):
            refused.append(result)
    reasons = {refusal.reason for refusal in refused}
    if not compared and len(reasons) == 1:
        raise InputError(reasons.pop(), where=str(path))
    _check(compared, path)
    notes = _notes(compared, scenario)
    end = unfinished(path) if path.suffix.lower() == ".csv" else None
    notes = notes if end is None else (end, *notes)
    return BenchmarkValidation(ttft_statistic, tuple(compared), tuple(refused), notes)


def _usable(run: Benchmark | Unusable) -> Benchmark | Unusable:
    problem = contradiction(run) if isinstance(run, Benchmark) else None
    return run if problem is None else Unusable(run.case, problem)


def predict(benchmark: Benchmark, scenario: Scenario | None) -> Driven | Refusal:
    """Simulate one benchmark, or say why that cannot be done."""
    started_s = perf_counter()
    try:
        used, simulation = drive(benchmark, scenario)
    except SimError as error:
        return Refusal(benchmark.case, str(error))
    figures = figures_of(simulation)
    if figures is None:
        return Refusal(
            benchmark.case, "a request of the run is longer than the KV pool or the context"
        )
    return Driven(
        figures=figures,
        model=used.model if isinstance(used.model, str) else "inline",
        gpu=used.hardware,
        engine=used.engine,
        weights=used.deployment.weights,
        users=users_of(benchmark, scenario),
        requests_per_s=rate_of(benchmark, scenario),
        seconds_to_simulate=perf_counter() - started_s,
    )


def _predict_all(
    runs: Sequence[Benchmark],
    scenario: Scenario | None,
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> list[Driven | Refusal]:
    def tell(done: int) -> None:
        if progress is not None:
            progress(done, len(runs))

    results = map_tasks(
        partial(predict, scenario=scenario),
        runs,
        workers if len(runs) >= FEWEST_FOR_A_POOL else 1,
        on_result=tell,
    )
    return [
        Refusal(run.case, result.problem) if isinstance(result, Failed) else result
        for run, result in zip(runs, results, strict=True)
    ]


def _check(compared: Sequence[Beside], path: Path) -> None:
    for name in ("tpot_mean_ms", "tpot_median_ms", "itl_mean_ms", "ttft_mean_ms"):
        pairs = [
            (row.predicted.figures[name], row.benchmark.figures[name])
            for row in compared
            if name in row.benchmark.figures
            and name in row.predicted.figures
            and not (name.startswith("ttft") and row.overloaded)
        ]
        check_units(name, pairs, where=str(path))


def _notes(compared: Sequence[Beside], scenario: Scenario | None) -> tuple[str, ...]:
    """Say what a reader of the errors should know, each thing once."""
    notes = [note for row in compared for note in row.benchmark.notes]
    notes += _taken(compared)
    if scenario is not None:
        notes += _differences(compared, scenario)
    else:
        notes += _renamed(compared)
    notes += _doubts(compared)
    if any(
        not (row.benchmark.outputs.quantiles or row.benchmark.outputs.each) for row in compared
    ):
        notes.append("where the file tells only the mean length, all requests were taken alike")
    if any(row.suspect for row in compared):
        notes.append(
            "runs marked * had failed requests or are doubted by the file: in no figure below"
        )
    return tuple(dict.fromkeys(notes))


def _differences(compared: Sequence[Beside], scenario: Scenario) -> Iterator[str]:
    """Say where the file tells of another deployment than the scenario that stood for it."""
    deployment = scenario.deployment
    stood = {
        "model": scenario.model if isinstance(scenario.model, str) else None,
        "gpu": scenario.hardware,
        "engine": scenario.engine,
        "tensor_parallel": deployment.tensor_parallel,
        "expert_parallel": deployment.expert_parallel,
        "pipeline_parallel": deployment.pipeline_parallel,
        "attention_data_parallel": deployment.attention_data_parallel,
    }
    for name, used in stood.items():
        told = {getattr(row.benchmark.served, name) for row in compared} - {None, used}
        if name == "model":
            told = {one for one in told if used is None or not _same(str(one), str(used))}
        if told and used is not None:
            listed = ", ".join(sorted(map(str, told)))
            what = "" if name in {"model", "gpu", "engine"} else f"{name} "
            yield f"the file names {what}{listed}; simulated was {used}"


def _renamed(compared: Sequence[Beside]) -> Iterator[str]:
    names = dict.fromkeys(row.benchmark.served.model or "" for row in compared)
    found = ((name, stand_in(name)) for name in names)
    yield from renamings((name, model) for name, model in found if model is not None)


def _doubts(compared: Sequence[Beside]) -> Iterator[str]:
    for name in ("ttft_mean_ms", "tpot_mean_ms"):
        yield from doubtful_units(
            name,
            (
                (row.benchmark.case, row.predicted.figures.get(name), row.benchmark.figures[name])
                for row in compared
                if name in row.benchmark.figures
            ),
        )


def _taken(compared: Sequence[Beside]) -> Iterator[str]:
    """Say what of the load the files do not tell, and what stands in for it."""
    loads = {load_label(row.predicted) for row in compared if not row.benchmark.tells_load}
    if loads:
        yield (
            f"the file does not tell the load: simulated was the scenario's,"
            f" {' and '.join(sorted(loads))}; if the benchmark's was another, {CHANGE_LOAD}"
        )
    if any(row.benchmark.prompts is None for row in compared):
        yield (
            f"the file does not tell how many requests there were: {PROMPTS_PER_USER} for each"
            f" user, or {PROMPTS_OF_A_RATE:,} at a rate, were simulated"
        )
    yield from _sent(compared)


def _sent(compared: Sequence[Beside]) -> Iterator[str]:
    """Say how long requests came in the replays at a rate, and why: it moves the predictions."""
    found: dict[str, list[float]] = {}
    for row in compared:
        rate, count = row.predicted.requests_per_s, row.benchmark.prompts or PROMPTS_OF_A_RATE
        if rate is not None and row.benchmark.tool != TABLE:
            lasting_s, why = sending(row.benchmark, count / rate)
            found.setdefault(why, []).append(lasting_s)
    for why, times_s in found.items():
        low, high = min(times_s), max(times_s)
        span = f"{low:,.3g} s" if low == high else f"{low:,.3g} to {high:,.3g} s"
        yield f"{counted(len(times_s), 'run')} at a rate: requests were sent over {span}: {why}"


def _same(name: str, reference: str) -> bool:
    try:
        return load_model(name).name == load_model(reference).name
    except SimError:
        return False


def refuse_scenario(path: Path) -> InputError:
    """Return the error for a scenario beside a table that names every deployment itself."""
    return InputError(
        "every row names its own deployment",
        where=str(path),
        remedy="leave --scenario and --set out",
    )
