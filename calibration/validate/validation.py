"""A whole table of measured runs against the simulator: `validate_file` is the door."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from calibration.validate.errors import (
    CONCURRENCY_BANDS,
    GroupErrors,
    concurrency_band,
    error_stats,
    relative_error,
)
from calibration.validate.pool import predict_all
from calibration.validate.recipes import Settings
from calibration.validate.replay import Prediction, Refusal, Statistic
from calibration.validate.runs import MeasuredRun, read_runs_file
from calibration.validate.told import Told, told_of
from calibration.validate.units import check_units, doubtful_units


@dataclass(frozen=True, slots=True)
class Compared:
    """One run beside its prediction."""

    run: MeasuredRun
    predicted: Prediction

    @property
    def ttft_error(self) -> float:
        """Relative error of TTFT, a fraction."""
        return relative_error(self.predicted.ttft_ms, self.run.ttft_ms)

    @property
    def tpot_error(self) -> float | None:
        """Relative error of TPOT, a fraction; None for answers of one token."""
        predicted, measured = self.predicted.tpot_ms, self.run.tpot_ms
        if predicted is None or measured is None:
            return None
        return relative_error(predicted, measured)


@dataclass(frozen=True, slots=True)
class Validation:
    """What came of a table: rows = compared + refused; suspect rows are compared, but apart."""

    ttft_statistic: Statistic
    """How the table's TTFT is read; TPOT is a mean over requests."""
    compared: tuple[Compared, ...]
    """In the order of the file."""
    refused: tuple[Refusal, ...]
    settings: Told
    """Where the settings of the runs came from."""
    of_the_file: tuple[str, ...] = ()
    """What a reader of the errors should know of the file."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know beside the errors."""
        return (*self.settings.notes, *self.of_the_file)

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return len(self.compared) + len(self.refused)

    @property
    def sound(self) -> tuple[Compared, ...]:
        """Simulated rows that the table does not mark as suspect."""
        return tuple(row for row in self.compared if not row.run.suspect)

    @property
    def overall(self) -> GroupErrors:
        """Errors over all sound rows."""
        return group_errors(self.sound)

    @property
    def suspect(self) -> GroupErrors:
        """Errors over the suspect rows, which are in no other figure."""
        return group_errors(row for row in self.compared if row.run.suspect)

    @property
    def by(self) -> dict[str, dict[str, GroupErrors]]:
        """Errors by model, GPU, engine, precision of the weights, and concurrency band."""
        bands = [name for name, _ in CONCURRENCY_BANDS] + ["129+"]
        return {
            "model": self._grouped(lambda run: run.model),
            "gpu": self._grouped(lambda run: run.gpu),
            "engine": self._grouped(lambda run: run.engine),
            "weights": self._grouped(lambda run: run.weights),
            "concurrency_band": {
                name: group_errors(
                    row for row in self.sound if concurrency_band(row.run.concurrency) == name
                )
                for name in bands
            },
        }

    def _grouped(self, key: Callable[[MeasuredRun], str]) -> dict[str, GroupErrors]:
        names = sorted({key(row.run) for row in self.sound})
        return {
            name: group_errors(row for row in self.sound if key(row.run) == name) for name in names
        }

    def to_json(self) -> dict[str, object]:
        """Return the object that `--json` prints; errors are fractions."""
        return {
            "rows": self.rows,
            "simulated": len(self.compared),
            "refused": [{"case": row.case, "reason": row.reason} for row in self.refused],
            "ttft_statistic": self.ttft_statistic,
            "overall": self.overall.to_json(),
            "by": {
                axis: {name: errors.to_json() for name, errors in groups.items()}
                for axis, groups in self.by.items()
            },
            "suspect": self.suspect.to_json(),
            "settings": self.settings.to_json(),
            "notes": list(self.notes),
        }


def group_errors(rows: Iterable[Compared]) -> GroupErrors:
    """Summarise the errors of some rows."""
    listed = list(rows)
    return GroupErrors(
        tpot=error_stats(row.tpot_error for row in listed),
        ttft=error_stats(row.ttft_error for row in listed),
    )


def validate_file(
    path: Path,
    *,
    ttft_statistic: Statistic = "mean",
    settings: Settings = "suite",
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> Validation:
    """Simulate every run of a table as its benchmark drove it, and compare.

    `ttft_statistic` says what the table's TTFT is, once for the whole file; `settings`, whose
    stand where the table says nothing: those of the suite's scripts, for runs that have its
    lengths, or the engine's own. `progress` is told how
    many of how many rows are done. A row that cannot be simulated is refused with its reason.
    """
    table = read_runs_file(path)
    runs = table.runs
    results = predict_all(
        runs, ttft_statistic, workers=workers, progress=progress, settings=settings
    )
    pairs = list(zip(runs, results, strict=True))
    compared = tuple(Compared(run, got) for run, got in pairs if isinstance(got, Prediction))
    for name in ("ttft_ms", "tpot_ms"):
        both = [(getattr(row.predicted, name), getattr(row.run, name)) for row in compared]
        check_units(name, both, where=str(path))
    return Validation(
        ttft_statistic=ttft_statistic,
        compared=compared,
        refused=tuple(got for _, got in pairs if isinstance(got, Refusal)),
        settings=told_of(runs, settings, table.unread),
        of_the_file=tuple(_notes(table.end, compared)),
    )


def _notes(end: str | None, compared: Iterable[Compared]) -> Iterator[str]:
    if end is not None:
        yield end
    rows = list(compared)
    for name in ("ttft_ms", "tpot_ms"):
        yield from doubtful_units(
            name,
            ((row.run.case, getattr(row.predicted, name), getattr(row.run, name)) for row in rows),
        )
