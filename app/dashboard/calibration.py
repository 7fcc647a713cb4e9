"""What the Calibration page shows, as plain data: profiles, parts, uploads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from app.dashboard.kernel_words import kernel_place, kernel_words
from calibration.benchmarks import (
    BenchmarkValidation,
    benchmark_tables,
    is_benchmark,
    validate_benchmark,
)
from calibration.benchmarks.drive import GIVE_DEPLOYMENT, GIVE_LOAD
from calibration.benchmarks.output import parity_points
from calibration.benchmarks.validation import CHANGE_LOAD
from calibration.importers import FORMATS
from calibration.timings import Timings, read_timings
from calibration.timings.csv_file import import_csv
from calibration.validate import (
    ErrorTable,
    Settings,
    Validation,
    error_tables,
    validate_file,
)
from sim.errors import InputError, SimError
from sim.hardware import Collectives, FittedProfile, load_gpu
from sim.hardware.load import FITTED, load_fitted
from sim.report.figures.parity import ParityPoint
from sim.scenario import Scenario
from sim.units import MS_PER_S

UNIVERSAL: Final = "universal"
NO_FIT: Final = "set by hand, or borrowed from the universal coefficients"
KERNELS: Final = (
    "A kernel is one operation on the GPU in one number format. Held-out error: how far "
    "predictions are off, on average, for shapes that the fit had not seen; by regime: the same "
    "for a range of sizes (ranks are GPUs)."
)
ERRORS: Final = (
    "TTFT: time to the first token. TPOT: mean time between the tokens of an answer. n: runs. "
    "Mean, median and p90 (90th percentile) are of the size of the error, (predicted − "
    "measured) / measured; bias is its median with the sign: above 0 predictions are too "
    "slow."
)
MORE_FIGURES: Final = (
    "ITL: gaps between tokens, of all answers together. TTLT: time to the last token; per token:"
    " TTLT divided by the tokens."
)
RESIDUALS: Final = (
    "Behind each kernel: the mean size of (predicted − measured) / measured. Left: shaded "
    "within 20 % of the measurement. Right: each error against the size, shaded within 10 %."
)
TOOLS: Final = "; ".join(module.NAME for module in FORMATS)
"""What may be uploaded as a benchmark."""
SETTINGS: Final[Mapping[Settings, str]] = {
    "suite": "InferenceX's scripts, for runs like its own",
    "engine": "the engine's own",
}
"""Whose settings stand where a table of closed loops sets none, in words."""
CHOOSE_ENGINE: Final = "choose *the engine's own* under *Settings* below the file"
_REMEDIES: Final = {
    GIVE_DEPLOYMENT: "give the deployment under *Deployment* below the file",
    GIVE_LOAD: "choose one with the benchmark's `workload.arrivals` under *Deployment* below the"
    " file",
    CHANGE_LOAD: "choose one with its `workload.arrivals` under *Deployment* below the file",
}
"""What the command line tells to do, and how it is done on the page."""
ACCURACY: Final = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"  # in a checkout


def profile_names() -> tuple[str, ...]:
    """Return the fitted profiles that are shipped, by the names of their files."""
    return tuple(sorted({path.stem for path in FITTED.glob("*.yaml")} - {UNIVERSAL}))


def profile(name: str) -> FittedProfile:
    """Return one of them, completed as a scenario completes it."""
    gpu, _, engine = name.partition("__")
    return in_use(gpu, engine)


@dataclass(frozen=True, slots=True)
class Part:
    """One fit of a profile as a row of a table."""

    part: str
    origin: str
    points: int | None
    held_out: float | None
    """Mean absolute error on shapes that the fit had not seen, a fraction."""
    regimes: Mapping[str, float]
    kernels: str


def parts(fitted: FittedProfile) -> tuple[Part, ...]:
    """Return every fit of a profile with its evidence, in the order of a pass."""
    found = (_part(fitted, name, fit) for name, fit in _fits(fitted))
    return tuple(sorted(found, key=lambda row: kernel_place(row.part)))


def _fits(fitted: FittedProfile) -> Iterator[tuple[str, Any]]:
    for family in type(fitted).model_fields:
        value = getattr(fitted, family)
        if isinstance(value, Mapping):
            yield from (
                (f"{family}.{key}", fit) for key, fit in value.items() if hasattr(fit, "evidence")
            )
        elif isinstance(value, Collectives):
            yield from (
                (f"{family}.{name}", getattr(value, name)) for name in Collectives.model_fields
            )
        elif hasattr(value, "evidence"):
            yield family, value


def _part(fitted: FittedProfile, name: str, fit: Any) -> Part:  # noqa: ANN401  # one of many fits
    evidence = fit.evidence
    origin = fitted.origin_of(name)
    if evidence is None:
        return Part(name, origin, None, None, {}, NO_FIT)
    regimes = {key: value for key, value in evidence.held_out.items() if key != "all"}
    return Part(
        name, origin, evidence.points, evidence.held_out.get("all"), regimes, evidence.kernels
    )


def finding(name: str, rows: tuple[Part, ...]) -> str:
    """Return in one sentence how well a profile is known."""
    known = [row for row in rows if row.held_out is not None]
    if not known:
        return f"{name}: no held-out errors yet, its coefficients were set by hand"
    worst = max(known, key=lambda row: row.held_out or 0.0)
    best = min(known, key=lambda row: row.held_out or 0.0)
    return (
        f"{name}: {len(known)} kernels fitted, off by {best.held_out:.1%}"
        f" ({kernel_words(best.part)}) to {worst.held_out:.1%} ({kernel_words(worst.part)}) on"
        " shapes that they had not seen"
    )


def read_upload(name: str, content: bytes) -> Timings:
    """Return uploaded timings: Parquet, or CSV with the columns of the schema."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(content)
        if path.suffix.lower() == ".csv":
            return import_csv(path)
        return read_timings(path)


def in_use(gpu: str, engine: str) -> FittedProfile:
    """Return the kernel layer that a scenario with this GPU and engine uses."""
    return load_fitted(load_gpu(gpu), engine)


@dataclass(frozen=True, slots=True)
class Checked:
    """An uploaded benchmark beside its predictions."""

    tables: tuple[ErrorTable, ...]
    points: Mapping[str, list[ParityPoint]]
    notes: tuple[str, ...]


def complaint(error: SimError, name: str) -> str:
    """Return an error in the words of the page: the uploaded file, and fields by name."""
    said = str(error)
    if isinstance(error, InputError) and error.where and Path(error.where).name == Path(name).name:
        said = said.replace(error.where, name, 1)
    return _here(said)


def _here(text: str) -> str:
    """Return a text with the command line's remedies in the words of the page."""
    for remedy, instead in _REMEDIES.items():
        text = text.replace(remedy, instead)
    return text


def _on_page(found: Checked) -> Checked:
    tables = [
        replace(table, rows=tuple(tuple(map(_here, row)) for row in table.rows))
        for table in found.tables
    ]
    return replace(found, tables=tuple(tables), notes=tuple(map(_here, found.notes)))


def check_upload(
    name: str, content: bytes, scenario: Scenario | None, settings: Settings = "suite"
) -> Checked:
    """Simulate the runs of an uploaded file, in this process.

    `settings` are those of a table of closed loops where it sets none itself.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(content)
        if is_benchmark(path):
            found = validate_benchmark(path, scenario=scenario, workers=1)
            return _on_page(_of_benchmark(found))
        checked = _of_runs(validate_file(path, settings=settings, workers=1))
        ignored = "every row names its own deployment: the one that was chosen is not used"
        return checked if scenario is None else replace(checked, notes=(ignored, *checked.notes))


def _of_runs(found: Validation) -> Checked:
    points = {
        "TTFT": [
            ParityPoint(row.run.case, row.run.engine, row.run.ttft_ms, row.predicted.ttft_ms)
            for row in found.sound
        ],
        "TPOT": [
            ParityPoint(row.run.case, row.run.engine, row.run.tpot_ms, row.predicted.tpot_ms)
            for row in found.sound
            if row.run.tpot_ms is not None and row.predicted.tpot_ms is not None
        ],
    }
    notes = (*found.settings.notes_to(CHOOSE_ENGINE), *found.of_the_file)
    return Checked(error_tables(found), points, notes)


def _of_benchmark(found: BenchmarkValidation) -> Checked:
    names = {"TTFT": "ttft_mean_ms", "TPOT": "tpot_mean_ms", "ITL": "itl_mean_ms"}
    points = {label: parity_points(found, name) for label, name in names.items()}
    return Checked(benchmark_tables(found), points, found.notes)


def kernel_points(measured_s: Any, predicted_s: Any) -> list[ParityPoint]:  # noqa: ANN401
    """Return kernels as points of a parity plot [ms]."""
    return [
        ParityPoint(f"kernel {place}", "kernels", measured * MS_PER_S, predicted * MS_PER_S)
        for place, (measured, predicted) in enumerate(
            zip(measured_s.tolist(), predicted_s.tolist(), strict=True), 1
        )
    ]


def validation_tables() -> str | None:
    """Return the shipped validation against measured runs as Markdown; None outside a checkout."""
    try:
        text = ACCURACY.read_text(encoding="utf-8")
    except OSError:
        return None
    start = text.find("## Error of TPOT")
    end = text.find("## Worst rows")
    return text[start:end].replace("## ", "##### ") if 0 <= start < end else None
