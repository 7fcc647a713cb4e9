"""Is the error that a fit of few timings states an honest one? Write docs/few_timings.md.

`python -m calibration.fit.coverage [PART …]` draws timings of a GPU from the public tables at
random, fits them on a sister's fit, as `calibrate fit --base` does, and compares the error that
the profile would state with the error on all other timings of the tables. An hour on one core;
draws are kept in `build/few_timings.csv` as they come, and those that are there are not made anew.
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

import numpy as np

from calibration.fit.coverage_draw import COUNTS, PAIRS, PARTS, Draw
from calibration.fit.coverage_page import write_page
from calibration.fit.document import stated_error
from calibration.fit.judge import Accepted, judge
from calibration.fit.parts import Part, parts
from calibration.fit.problem import Mask, Problem
from calibration.fit.source import Source
from calibration.timings import Timings
from calibration.timings.aiconfigurator import import_aiconfigurator
from sim.hardware import FittedProfile, load_fitted_named, load_gpu
from sim.hardware.fitted import Fit
from sim.records import FloatArray

DRAWS: Final = 20
ENGINE: Final = "vllm"
KEPT: Final = Path(__file__).resolve().parents[2] / "build" / "few_timings.csv"
_SEED: Final = 4093
_TRIES: Final = 6


def draws_of(gpu: str, sister: str, name: str) -> Iterator[Draw]:
    """Yield every draw of one part of one GPU."""
    timings = import_aiconfigurator([gpu], [ENGINE])
    base = load_fitted_named(f"{sister}__{ENGINE}")
    part = _part(Source(load_gpu(gpu), base, sister), name)
    rows = _rows(timings, part)
    full = None if rows is None else part.build(rows)
    if rows is None or full is None:
        return
    for count in COUNTS:
        for number in range(DRAWS if 2 * count <= len(full) else 0):
            rng = np.random.default_rng([_SEED, number, count])
            few = _drawn(part, rows, round(count * len(rows) / len(full)), count, rng)
            outcome = None if few is None else _fitted(few)
            if few is not None and outcome is not None:
                yield _judged(gpu, part, (few, outcome), (full, rows), base, count)


def _part(source: Source, name: str) -> Part:
    return next(part for part in parts(source) if part.name == name)


def _rows(timings: Timings, part: Part) -> Timings | None:
    """Return the engine's own rows of a part; None where it has none."""
    mine = timings.where(operation=part.operation, engine=ENGINE)
    if not len(mine):
        return None
    _, _, key = part.name.partition(".")
    column = "kv_precision" if "attention" in part.operation else "precision"
    return mine.where(**{column: key}) if key else mine


def _drawn(
    part: Part, rows: Timings, first: int, count: int, rng: np.random.Generator
) -> Problem | None:
    """Return the problem of so many usable timings or a few more, drawn at random.

    `first` is how many rows hold so many on average.
    """
    order, taken = rng.permutation(len(rows)), first
    for _ in range(_TRIES):
        few = np.zeros(len(rows), dtype=bool)
        few[order[:taken]] = True
        problem = part.build(rows.keep(few))
        if problem is not None and len(problem) >= count:
            return problem
        taken = round(1.2 * taken) + 1
    return None


def _fitted(few: Problem) -> tuple[Accepted, bool] | None:
    """Return the fit, and whether it would be refused for its base; None where there is none."""
    asked = judge(few, "sister")
    if isinstance(asked, Accepted):
        return asked, False
    forced = judge(few, "sister", even_if_worse=True)
    return (forced, True) if isinstance(forced, Accepted) else None


def _judged(  # noqa: PLR0917  # all that a draw is made of
    gpu: str,
    part: Part,
    drawn: tuple[Problem, tuple[Accepted, bool]],
    table: tuple[Problem, Timings],
    base: FittedProfile,
    count: int,
) -> Draw:
    few, (outcome, refused) = drawn
    full, rows = table
    mine = _with(base, part.name, outcome.fit)
    again = _part(Source(load_gpu(gpu), mine, "drawn"), part.name).build(rows) or full
    others = full.scored & ~np.isin(full.measured_s, few.measured_s)
    errors = [_mape(one.base_s, full, others) for one in (again, full)]
    stated = stated_error(outcome.evidence)
    return Draw(gpu, part.name, count, stated, errors[0], errors[1], refused)


def _mape(predicted_s: FloatArray, problem: Problem, rows: Mask) -> float:
    """Return the mean error of rows, no kernel being quicker than the peaks allow."""
    floored = np.maximum(predicted_s, problem.floor_s)
    return round(float(np.abs(floored / problem.measured_s - 1.0)[rows].mean()), 5)


def _with(base: FittedProfile, name: str, fit: Fit) -> FittedProfile:
    family, _, key = name.partition(".")
    made = {**getattr(base, family), key: fit} if key else fit
    return base.model_copy(update={family: made})


def kept(path: Path = KEPT) -> list[Draw]:
    """Return the draws that were made before."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Draw(
                gpu=row["gpu"],
                part=row["part"],
                count=int(row["count"]),
                stated=float(row["stated"]),
                true=float(row["true"]),
                base=float(row["base"]),
                refused=row["refused"] == "True",
            )
            for row in csv.DictReader(file)
        ]


def main(names: Sequence[str]) -> int:
    """Make the draws that are missing, and write the page."""
    done = {(draw.gpu, draw.part) for draw in kept()}
    KEPT.parent.mkdir(exist_ok=True)
    for name in names or PARTS:
        for gpu, sister in PAIRS:
            if (gpu, name) not in done:
                found = list(draws_of(gpu, sister, name))
                new = not KEPT.is_file()
                with KEPT.open("a", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, [field.name for field in fields(Draw)])
                    if new:
                        writer.writeheader()
                    writer.writerows(asdict(draw) for draw in found)
                sys.stdout.write(f"{name} of {gpu}: {len(found)} draws\n")
                sys.stdout.flush()
    write_page(kept())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
