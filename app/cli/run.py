"""`paretoken run`: simulate one scenario."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from app.cli.course import Course
from app.cli.exits import ANSWER, ANSWER_IS_NO, INTERRUPTED
from app.cli.output import bar, emit_json, waiting
from sim.errors import InputError
from sim.planning.thorough import run_thoroughly
from sim.report.document import outcome_document
from sim.run import Outcome
from sim.scenario import Scenario, load_scenario
from sim.units import GB, counted
from sim.workload import Trace

LONG_RUN: Final = 2_000_000
"""Requests from which on a run is announced."""
REQUESTS_PER_S: Final = 5_000
"""Requests that are simulated per second of one core, roughly (chat of 1,000 tokens, 8B model)."""
BYTES_PER_REQUEST: Final = 1_000
"""Memory of a request while its run is simulated and measured."""


def run_scenario(
    reference: str,
    overrides: list[str],
    *,
    options: Mapping[str, str],
    trace: Path | None,
    course: Course,
    out: Path | None,
    as_json: bool,
) -> int:
    """Simulate and print; return the exit code."""
    scenario = load_scenario(reference, overrides, options=options, trace=trace)
    if out is not None:
        from sim.report.files import check_folder

        check_folder(out)
    course.check()
    _warn_of_length(scenario)
    outcome = _simulated(scenario)
    course.write(outcome)
    if out is not None:
        from sim.report.files import write_outcome

        write_outcome(outcome, out)
    if as_json:
        emit_json(outcome_document(outcome))
    else:
        _print(outcome, out)
    return _code(outcome)


def _code(outcome: Outcome) -> int:
    """Return 0 where all that is asked is met, and known to be: not by a part of a course."""
    from sim.report.course import part_of_course

    done, slo = outcome.replications, outcome.scenario.slo
    if done is not None and done.stopped_of is not None:
        return INTERRUPTED
    precise = done is None or done.precision is None or done.precision.met
    asks = slo.ask_anything or bool(slo.classes)
    known = not (asks and part_of_course(outcome))
    return ANSWER if outcome.metrics.slo.met and precise and known else ANSWER_IS_NO


def _simulated(scenario: Scenario) -> Outcome:
    """Simulate; several runs show how many of them are done."""
    what = f"Simulating {scenario.name}"
    if scenario.run.seeds is None and scenario.run.precision is None:
        with waiting(what):
            return run_thoroughly(scenario)
    with bar(what) as progress:
        return run_thoroughly(scenario, on_runs=progress)


def run_settings(
    *, seed: int | None, seeds: int | None, precision: str | None, metric: str | None
) -> dict[str, str]:
    """Return changes of keys of the scenario, each with the option that asks for it."""
    if metric is not None and precision is None:
        raise InputError(
            "says of what a precision is asked, and none is",
            where="--metric",
            remedy="add --precision 2%",
        )
    share = None if precision is None else _share(precision)
    given = {
        "seed": (seed, seed),
        "seeds": (seeds, seeds),
        "precision": (share, precision),
        "metric": (metric, metric),
    }
    return {
        f"run.{name}={value}": f"--{name} {typed}"
        for name, (value, typed) in given.items()
        if value is not None
    }


def _share(text: str) -> float:
    """Return `2%` or `0.02` as a share."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError(
            f"expected a share between 0 and 100%, found `{text}`",
            where="--precision",
            remedy="for example --precision 2%",
        )
    return share


def _warn_of_length(scenario: Scenario) -> None:
    """Say before it begins what a very long run takes; a trace brings its own length."""
    requests = scenario.run.requests * (scenario.run.seeds or 1)
    if requests < LONG_RUN or isinstance(scenario.workload.arrivals, Trace):
        return
    minutes = requests / REQUESTS_PER_S / 60
    time = counted(minutes, "minute") if minutes < 120 else counted(minutes / 60, "hour")
    print(
        f"paretoken: {requests:,} requests take about {time} and"
        f" {requests * BYTES_PER_REQUEST / GB:,.0f} GB of memory; some thousands are enough for"
        " most questions.",
        file=sys.stderr,
    )


def _print(outcome: Outcome, out: Path | None) -> None:
    from app.cli.page import Page
    from sim.report.answer import answer, context
    from sim.report.seeds import precision_sentence
    from sim.report.tables import outcome_tables

    page = Page()
    page.line(answer(outcome), style="bold")
    page.line(context(outcome), style="dim")
    precision = precision_sentence(outcome)
    if precision is not None:
        page.line(precision)
    for table in outcome_tables(outcome):
        page.table(table)
    page.points("Notes", outcome.notes)
    page.points("Not modelled", outcome.not_modelled)
    if out is not None:
        page.line()
        page.line(f"Written to {out}: requests.parquet, outcome.json, report.md and more")
    page.show()
