"""Fitting one problem and judging the answer: what it is worth, or why it is refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from calibration.fit.problem import FEWEST, Mask, Problem, Residuals
from calibration.fit.solve import ALL, Rows, Solution, solve
from calibration.fit.split import SEEDS, held_out
from calibration.fit.unseen import Unseen, rounded
from sim.hardware.evidence import Evidence
from sim.hardware.fitted import Fit
from sim.records import FloatArray
from sim.units import US_PER_S

TOO_FAST: Final = 0.95
"""A row below this share of the physical floor cannot be: noise of a clock is less than 5 %."""
TOO_FAST_ROWS: Final = 0.1
"""Share of such rows that marks the whole set, beyond chance: experts and caches make for some."""
TOO_SLOW: Final = 60.0
"""Large kernels that take this many times the floor are a slip of units, not a loss."""
WORSE: Final = 1.05
LONGEST_FIXED_S: Final = 150e-6
"""No launch takes so long: kernels for which a fit says so work in another way."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Measured and predicted times of the rows, for figures."""

    measured_s: FloatArray
    predicted_s: FloatArray
    held_out: Mask
    coordinates: Mapping[str, FloatArray]
    flop: FloatArray
    bytes_moved: FloatArray


@dataclass(frozen=True, slots=True)
class Accepted:
    """A fit with its evidence."""

    part: str
    fit: Fit
    rows: Compared

    @property
    def evidence(self) -> Evidence:
        """What stands behind it."""
        if self.fit.evidence is None:
            raise ValueError(self.part)
        return self.fit.evidence


@dataclass(frozen=True, slots=True)
class Refused:
    """A part that was not fitted, and why."""

    part: str
    reason: str


def judge(
    problem: Problem, base_name: str | None, *, even_if_worse: bool = False
) -> Accepted | Refused:
    """Fit a problem on all rows, with the error that fits of a part of them made on the rest.

    `even_if_worse`: also where the base seems to be better, to see whether it is.
    """
    reason = _impossible(problem)
    if reason is not None:
        return Refused(problem.part, reason)
    first, again = (_unseen(problem, seed) for seed in SEEDS)
    reason = None if even_if_worse else _worse(problem, first)
    if reason is not None:
        return Refused(problem.part, reason)
    solution, table = _solved(problem, np.ones(len(problem), dtype=bool))
    if solution.values["fixed_s"] > LONGEST_FIXED_S:
        fixed_us = solution.values["fixed_s"] * US_PER_S
        reason = f"the form wants a fixed time of {fixed_us:.0f} µs: it does not hold for them"
        return Refused(problem.part, reason)
    evidence = _evidence(problem, solution, first, again, base_name)
    update: dict[str, Any] = {"evidence": evidence}
    if table is not None:
        update["residual"] = table
    fit = problem.make(solution.values).model_copy(update=update)
    final = _predict(problem, solution, table)
    rows = Compared(
        problem.measured_s,
        np.where(first.tested, first.predicted_s, final),
        first.tested,
        problem.coordinates,
        problem.flop,
        problem.bytes_moved,
    )
    return Accepted(problem.part, fit, rows)


def _unseen(problem: Problem, seed: int) -> Unseen:
    """Fit some shapes and predict the others."""
    predicted, form_alone = np.full(len(problem), np.nan), np.full(len(problem), np.nan)
    splits = list(held_out(problem.groups, seed))
    for test in splits:
        solution, table = _solved(problem, ~test)
        form_alone[test] = problem.form(solution.values, test)
        predicted[test] = _predict(problem, solution, table)[test]
    known = ~np.isnan(predicted)
    tested = known & problem.scored
    shared = sum(float(test.sum() / max(1, (~test).sum())) for test in splits)
    return Unseen(predicted, form_alone, tested if tested.any() else known, shared)


def _impossible(problem: Problem) -> str | None:
    """Say what is wrong with the rows themselves, if anything."""
    if len(problem) < FEWEST:
        why = "" if problem.left_out is None else f" ({problem.left_out})"
        return f"{len(problem)} timings are too few: {FEWEST} at least{why}"
    floor_s = problem.floor_s if problem.certain_floor_s is None else problem.certain_floor_s
    ratio = problem.measured_s / floor_s
    large = floor_s >= np.quantile(floor_s, 0.75)
    too_fast = float((ratio < TOO_FAST).mean())
    chance = 2.0 * np.sqrt(TOO_FAST_ROWS * (1.0 - TOO_FAST_ROWS) / len(problem))
    if too_fast > TOO_FAST_ROWS + chance:
        return (
            f"{too_fast:.0%} of the timings are quicker than the peaks of the GPU allow (an"
            " efficiency above 1): another GPU, another precision, or latency_s not in seconds"
        )
    typical = float(np.median(ratio[large]))
    if typical > TOO_SLOW:
        return (
            f"its largest kernels take {typical:,.0f} times as long as the peaks of the GPU allow:"
            " latency_s is in seconds"
        )
    return None


def _worse(problem: Problem, unseen: Unseen) -> str | None:
    """Say so if the base is better on the held-out shapes, beyond chance where they are few."""
    tested = unseen.tested
    measured = problem.measured_s[tested]
    own = np.abs(unseen.predicted_s[tested] / measured - 1.0)
    base = np.abs(problem.base_s[tested] / measured - 1.0)
    chance = 2.0 * float((own - base).std()) / np.sqrt(len(measured))
    if own.mean() - base.mean() <= max(chance, (WORSE - 1.0) * float(base.mean())):
        return None
    return (
        f"off by {own.mean():.1%} on held-out shapes where the base is off by {base.mean():.1%}:"
        " the base is better"
    )


def _solved(problem: Problem, rows: Mask) -> tuple[Solution, Residuals | None]:
    """Fit the form on some rows, and the table on what it leaves.

    A sister's coefficients hold beside her table: the form is fitted on what that leaves.
    """
    mine = np.flatnonzero(rows)

    def form(values: Mapping[str, float], some: Rows) -> FloatArray:
        return problem.form(values, mine[some])

    _, groups = np.unique(problem.groups[rows], return_inverse=True)
    measured_s = problem.measured_s
    if problem.table is not None and problem.table.has_prior:
        measured_s = measured_s / np.exp(problem.table.prior_log_ratio())
    solution = solve(form, measured_s[rows], problem.coefficients, groups)
    if problem.table is None:
        return solution, None
    if len(problem) < problem.table_fewest and not problem.table.has_prior:
        return solution, None
    errors = np.log(problem.measured_s / problem.form(solution.values, ALL))
    return solution, problem.table.fit(errors, rows)


def _predict(problem: Problem, solution: Solution, table: Residuals | None) -> FloatArray:
    seconds = problem.form(solution.values, ALL)
    if problem.table is not None and table is not None:
        seconds = seconds * np.exp(problem.table.log_ratio(table))
    return np.maximum(seconds, problem.floor_s)


def _evidence(
    problem: Problem,
    solution: Solution,
    first: Unseen,
    again: Unseen,
    base_name: str | None,
) -> Evidence:
    measured, predicted, tested = problem.measured_s, first.predicted_s, first.tested
    errors = {"all": first.error(measured)}
    known = ~np.isnan(predicted)
    for name, rows in problem.regimes.items():
        if (rows & known).any():
            errors[name] = rounded(_mape(predicted[rows & known], measured[rows & known]))
    signed = predicted[tested] / measured[tested] - 1.0
    return Evidence(
        kernels=problem.kernels,
        points=len(problem),
        range={
            name: (float(values.min()), float(values.max()))
            for name, values in problem.coordinates.items()
        },
        held_out=errors,
        held_out_points=int(tested.sum()),
        held_out_spread=first.spread(measured) if len(problem) < problem.certain_from else None,
        held_out_again=again.error(measured),
        form_alone=rounded(_mape(first.form_alone_s[tested], measured[tested])),
        bias=rounded(float(np.median(signed))),
        standard_errors={
            name: float(f"{value:.3g}") for name, value in solution.standard_errors.items()
        },
        at_bound=solution.at_bound,
        base=base_name,
        note=problem.note,
    )


def _mape(predicted: FloatArray, measured: FloatArray) -> float:
    return float(np.abs(predicted / measured - 1.0).mean())
