"""Arrivals by windows, each with a rate and a spread of its own, as ServeGen describes clients."""

import csv
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, cycle, repeat
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import numpy as np
from annotated_types import Gt, Le, MinLen
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from sim.errors import InputError
from sim.records import FloatArray
from sim.units import counted
from sim.workload.rate_curve import RateCurve
from sim.workload.renewal import unit_times_within
from sim.workload.varying import Cv, Duration, RateOrNone

COLUMNS: Final = ("for_s", "requests_per_s", "cv")


class Window(BaseModel):
    """A stretch of time with its rate and the spread of its gaps."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    for_s: Duration
    """How long, s."""
    requests_per_s: RateOrNone
    cv: Cv = 1.0
    """Coefficient of variation of the gaps in it: 1 Poisson, above burstier, 0 evenly spaced."""


class Windows(BaseModel):
    """Windows of steady gamma arrivals, one after the other (ServeGen: Xiang et al., 2025)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    kind: Literal["windows"] = "windows"
    windows: Annotated[tuple[Window, ...], MinLen(1)] | None = None
    path: Path | None = None
    """CSV with the columns `for_s,requests_per_s,cv`, one row a window, in place of `windows`."""
    repeat: bool = False
    """Begin again with the first window after the last one; else the last one goes on."""
    rate_scale: Annotated[float, Gt(0), Le(1e6)] = 1.0
    """2 doubles the rate of every window."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.windows is None) == (self.path is None):
            raise ValueError("needs either `windows` or `path`")
        if self.windows is not None:
            _check_rates(self.windows)
        return self

    def all_windows(self) -> tuple[Window, ...]:
        """Return the windows, from the file where one is named."""
        return self.windows if self.windows is not None else read_windows(self._file())

    def _file(self) -> Path:
        if self.path is None:
            raise TypeError("no windows")  # the validator sees to it
        return self.path.expanduser()

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:
        """Return `count` arrival times, s; inf for those that never come (the rate fell to 0).

        A window begins as if its own traffic had long been going on, so that its mean rate is the
        one that it states whatever its CV.
        """
        parts, found, start_s = [np.zeros(0)], 0, 0.0
        for window in self._course():
            rate = window.requests_per_s * self.rate_scale
            if rate > 0:
                times = unit_times_within(window.for_s * rate, window.cv, stream)
                parts.append(start_s + times / rate)
                found += len(times)
            start_s += window.for_s
            if found >= count:
                break
        times_s = np.concatenate([*parts, np.full(max(0, count - found), np.inf)])
        return np.maximum.accumulate(times_s[:count])  # across an edge rounding could turn back

    def _course(self) -> Iterator[Window]:
        """Return the windows in the order of time, for ever where something still comes."""
        windows = self.all_windows()
        if self.repeat:
            return cycle(windows)
        last = windows[-1]
        return chain(windows, repeat(last) if last.requests_per_s else ())

    def curve(self) -> RateCurve:
        """Return the rate over time."""
        windows = self.all_windows()
        rates = [self.rate_scale * window.requests_per_s for window in windows]
        lasting_s = [window.for_s for window in windows]
        return RateCurve.of(lasting_s, rates, rates, repeats=self.repeat)

    @property
    def mean_requests_per_s(self) -> float:
        """Mean rate over the windows."""
        windows = self.all_windows()
        requests = sum(window.for_s * window.requests_per_s for window in windows)
        return self.rate_scale * requests / sum(window.for_s for window in windows)

    def at_rate(self, requests_per_s: float) -> Self:
        """Return the same windows with another mean rate."""
        factor = requests_per_s / self.mean_requests_per_s
        return self.model_copy(update={"rate_scale": self.rate_scale * factor})

    def describe(self) -> str:
        """Return the process in words."""
        windows = self.all_windows()
        spreads = [window.cv for window in windows]
        return (
            f"{counted(len(windows), 'window')}, {self.mean_requests_per_s:.3g} requests/s"
            f" on average, CV {min(spreads):.3g} to {max(spreads):.3g}"
        )


def _check_rates(windows: tuple[Window, ...]) -> None:
    if not any(window.requests_per_s for window in windows):
        raise ValueError("has no rate above 0, so nothing ever arrives")


def read_windows(path: Path) -> tuple[Window, ...]:
    """Read windows from a CSV; one that has not changed since is not read again."""
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(
            f"cannot read the windows ({error.strerror})", where=str(path), remedy="check the path"
        ) from error
    return _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, modified_ns: int, size_bytes: int) -> tuple[Window, ...]:  # noqa: ARG001 (cache key)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            names = [name.strip() for name in reader.fieldnames or ()]
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            "the windows are not text in UTF-8", where=str(path), remedy="name a CSV file"
        ) from error
    missing = [name for name in COLUMNS[:2] if name not in names]
    if missing or not rows:
        problem = f"lacks the column {', '.join(missing)}" if missing else "has no windows"
        header = f"give it the columns {','.join(COLUMNS)} and a row or more"
        raise InputError(f"the file {problem}", where=str(path), remedy=header)
    windows = tuple(_window(path, line, row) for line, row in rows)
    try:
        _check_rates(windows)
    except ValueError as error:
        raise InputError(str(error), where=str(path)) from None
    return windows


def _window(path: Path, line: int, row: dict[str, str]) -> Window:
    if None in row or None in row.values():
        raise InputError(
            f"line {line} has not as many fields as the header",
            where=str(path),
            remedy="correct or remove the line",
        )
    cells = {name.strip(): value for name, value in row.items()}
    given = {name: cells[name] for name in COLUMNS if cells.get(name)}
    try:
        return Window.model_validate(given)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise InputError(
            f"line {line}: {detail['loc'][0]}: {detail['msg']}, found {detail['input']!r}",
            where=str(path),
            remedy="correct or remove the line",
        ) from None
