"""`paretoken calibrate engine`: the host layer of an engine from measured serving runs."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from app.cli.exits import ANSWER, ANSWER_IS_NO
from app.cli.output import bar, emit_json
from app.cli.page import Page
from calibration.engine import EngineFit, LeftOut, fit_engine
from calibration.validate.runs import read_runs
from sim.errors import InputError
from sim.report.files import check_file
from sim.report.table import Column, Table
from sim.report.words import percent
from sim.units import counted


def fit_engine_layer(path: Path, *, engine: str | None, out: Path | None, as_json: bool) -> int:
    """Fit one engine's layer, print the values with their errors and both cross-validations."""
    if out is not None:
        check_file(out)
    name = engine or _only_engine(path)
    with bar(f"Simulating runs of {name}") as progress:
        fit = fit_engine(path, name, progress=progress)
    better = _better(fit)
    if out is not None and better:
        fit.preset.write(out)
    if as_json:
        emit_json({**fit.to_json(), "written": str(out) if out is not None and better else None})
        return ANSWER if better else ANSWER_IS_NO
    _show(fit, out, better=better)
    return ANSWER if better else ANSWER_IS_NO


def _only_engine(path: Path) -> str:
    names = sorted({run.engine for run in read_runs(path)})
    if len(names) != 1:
        raise InputError(
            f"holds rows of {', '.join(names)}", where=str(path), remedy="name one with --engine"
        )
    return names[0]


def _better(fit: EngineFit) -> bool:
    """Tell whether the fit lowers the sum of both median errors: a worse one is not written."""
    before = (fit.before.tpot.median_ape or 0) + (fit.before.ttft.median_ape or 0)
    return (fit.after.tpot.median_ape or 0) + (fit.after.ttft.median_ape or 0) < before


def _show(fit: EngineFit, out: Path | None, *, better: bool) -> None:
    page = Page()
    tpot, ttft = fit.after.tpot.median_ape or 0.0, fit.after.ttft.median_ape or 0.0
    errors = f"TPOT off by {percent(tpot)}, TTFT by {percent(ttft)}"
    lead = f"{fit.engine} on {counted(fit.rows, 'run')}: {errors}"
    was = (fit.before.tpot.median_ape or 0.0, fit.before.ttft.median_ape or 0.0)
    page.line(
        f"{lead} at the median (as shipped {percent(was[0])} and {percent(was[1])}).", style="bold"
    )
    page.table(_settings(fit))
    for told in fit.notes:
        page.line(f"Note: {told}.")
    for axis, found in (("model", fit.by_model), ("GPU", fit.by_gpu)):
        if found:
            page.table(_left_out(axis, found))
        else:
            page.line(f"All rows have one {axis}: leaving it out says nothing.")
    if not better:
        page.line("The fit is no better than the preset that is shipped, and is not written.")
    elif out is not None:
        page.line(f"Written to {out}; name it as `engine` in a scenario.")
    page.show()


def _settings(fit: EngineFit) -> Table:
    rows = []
    for place, knob in enumerate(fit.line.knobs):
        error = fit.solution.standard_errors[place]
        value = fit.solution.values[place]
        note = "" if fit.solution.moved[place] else "no effect on these rows"
        at_bound = fit.solution.moved[place] and np.isnan(error)
        if fit.solution.told_apart[place] is False:
            note = "not told apart"
        rows.append(
            (
                knob.key,
                f"{fit.start[place]:.3g}",
                f"{value:.3g}",
                "–" if np.isnan(error) else f"± {error:.2g}",
                f"0 – {knob.most:g}",
                "at its bound" if at_bound else note,
            )
        )
    heads = ("setting", "shipped", "fitted", "standard error", "bounds", "")
    columns = tuple(Column(name, "left" if name in {"setting", ""} else "right") for name in heads)
    return Table("Settings", columns, tuple(rows))


def _left_out(axis: str, found: Iterable[LeftOut]) -> Table:
    rows = tuple(
        (
            one.group,
            str(one.tpot.n),
            *(
                percent(size) if size is not None else "–"
                for size in (
                    one.tpot.median_ape,
                    one.tpot.p90_ape,
                    one.ttft.median_ape,
                    one.ttft.p90_ape,
                )
            ),
        )
        for one in found
    )
    heads = (axis, "rows", "TPOT median", "p90", "TTFT median", "TTFT p90")
    columns = tuple(Column(name, "left" if name == axis else "right") for name in heads)
    return Table(f"Errors on a {axis} that the fit has not seen", columns, rows)
