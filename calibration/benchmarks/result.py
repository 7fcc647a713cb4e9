"""Benchmarks beside their predictions: errors by figure and by group."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from calibration.importers import Benchmark
from calibration.validate.errors import (
    CONCURRENCY_BANDS,
    ErrorStats,
    concurrency_band,
    error_stats,
    relative_error,
)
from calibration.validate.replay import Refusal, Statistic

MOST_FAILED: Final = 0.01
"""Above this share of failed requests a run is compared, but apart: who failed carried no load."""


KEEPS_UP: Final = 0.9
"""Share of the requests sent that a server finishes while they come, if it keeps up."""


@dataclass(frozen=True, slots=True)
class Driven:
    """What the simulator says about one benchmark, and of which deployment."""

    figures: Mapping[str, float]
    model: str
    gpu: str
    engine: str
    weights: str
    users: int | None
    """Of the closed loop; None for an open loop, which has a rate instead."""
    requests_per_s: float | None
    seconds_to_simulate: float


@dataclass(frozen=True, slots=True)
class Beside:
    """One benchmark beside its prediction."""

    benchmark: Benchmark
    predicted: Driven

    @property
    def suspect(self) -> bool:
        """Tell whether the file doubts the run, or too many requests failed to know the load."""
        if self.benchmark.suspect:
            return True
        sent = (self.benchmark.prompts or 0) + self.benchmark.failed
        return self.benchmark.failed > MOST_FAILED * max(sent, 1)

    @property
    def overloaded(self) -> bool:
        """Tell whether the simulated server falls behind: its TTFT says when requests end."""
        sent, served = self.benchmark.requests_per_s, self.predicted.figures.get("requests_per_s")
        return sent is not None and served is not None and served < KEEPS_UP * sent

    @property
    def errors(self) -> dict[str, float]:
        """Relative error of every figure that was measured and predicted, a fraction."""
        return {
            name: relative_error(self.predicted.figures[name], measured)
            for name, measured in self.benchmark.figures.items()
            if name in self.predicted.figures
        }

    def error_of(self, quantity: str, statistic: Statistic) -> float | None:
        """Return the error of a quantity: TTFT by the statistic asked for, others by their mean.

        Where the mean is not told, the median stands in (not for TTFT: that choice is made once).
        """
        if quantity == "ttft":
            return self.errors.get(f"ttft_{statistic}_ms")
        names = (quantity, f"{quantity}_mean_ms", f"{quantity}_median_ms")
        return next((self.errors[name] for name in names if name in self.errors), None)


QUANTITIES: Final = ("tpot", "ttft", "itl", "output_tokens_per_s", "requests_per_s")


@dataclass(frozen=True, slots=True)
class BenchmarkValidation:
    """What came of a file: rows = compared + refused; runs with many failures are apart."""

    ttft_statistic: Statistic
    compared: tuple[Beside, ...]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Runs in the file."""
        return len(self.compared) + len(self.refused)

    @property
    def sound(self) -> tuple[Beside, ...]:
        """Simulated runs of which next to all requests were answered."""
        return tuple(row for row in self.compared if not row.suspect)

    def quantities(self, rows: Iterable[Beside]) -> dict[str, ErrorStats]:
        """Return the errors of each quantity over some rows."""
        listed = list(rows)
        return {
            name: error_stats(row.error_of(name, self.ttft_statistic) for row in listed)
            for name in QUANTITIES
        }

    @property
    def by_figure(self) -> dict[str, ErrorStats]:
        """Errors of every figure over the sound rows."""
        names = sorted({name for row in self.sound for name in row.errors})
        return {name: error_stats(row.errors.get(name) for row in self.sound) for name in names}

    @property
    def by(self) -> dict[str, dict[str, dict[str, ErrorStats]]]:
        """Errors by model, GPU, engine, precision of the weights, and load."""
        axes: dict[str, Callable[[Beside], str | None]] = {
            "model": lambda row: row.predicted.model,
            "gpu": lambda row: row.predicted.gpu,
            "engine": lambda row: row.predicted.engine,
            "weights": lambda row: row.predicted.weights,
            "concurrency_band": _band,
            "requests_per_s": lambda row: (
                None
                if row.predicted.requests_per_s is None
                else f"{row.predicted.requests_per_s:g}"
            ),
        }
        grouped = {axis: self._grouped(key) for axis, key in axes.items()}
        bands = [name for name, _ in CONCURRENCY_BANDS] + ["129+"]
        empty = self.quantities(())
        grouped["concurrency_band"] = {
            name: grouped["concurrency_band"].get(name, empty) for name in bands
        }
        return grouped

    def _grouped(self, key: Callable[[Beside], str | None]) -> dict[str, dict[str, ErrorStats]]:
        groups: dict[str, list[Beside]] = {}
        for row in self.sound:
            name = key(row)
            if name is not None:
                groups.setdefault(name, []).append(row)
        return {name: self.quantities(rows) for name, rows in groups.items()}

    def to_json(self) -> dict[str, object]:
        """Return the object that `--json` prints; errors are fractions."""
        return {
            "rows": self.rows,
            "simulated": len(self.compared),
            "load_of_scenario": sum(not row.benchmark.tells_load for row in self.compared),
            "refused": [{"case": row.case, "reason": row.reason} for row in self.refused],
            "ttft_statistic": self.ttft_statistic,
            "overall": _plain(self.quantities(self.sound)),
            "figures": _plain(self.by_figure),
            "by": {
                axis: {name: _plain(stats) for name, stats in groups.items()}
                for axis, groups in self.by.items()
            },
            "suspect": _plain(self.quantities(row for row in self.compared if row.suspect)),
            "notes": list(self.notes),
        }


def _plain(stats: Mapping[str, ErrorStats]) -> dict[str, object]:
    return {name: one.to_json() for name, one in stats.items()}


def _band(row: Beside) -> str | None:
    return None if row.predicted.users is None else concurrency_band(row.predicted.users)
