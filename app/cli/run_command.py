"""The command `run` and its options."""

import typer

from app.cli import options


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(name="run")(run_command)


def run_command(
    scenario: options.Reference,
    *,
    overrides: options.Overrides = None,
    trace: options.TraceFile = None,
    seed: options.Seed = None,
    seeds: options.Seeds = None,
    precision: options.Precision = None,
    metric: options.MetricName = None,
    timeline: options.TimelineFile = None,
    timeline_bin: options.TimelineBin = None,
    trace_events: options.TraceEventsFile = None,
    out: options.OutFolder = None,
    as_json: options.AsJson = False,
) -> int:
    """Simulate a scenario: the answer in one sentence, then the tables behind it."""
    from app.cli.course import Course
    from app.cli.run import run_scenario, run_settings

    changes = run_settings(seed=seed, seeds=seeds, precision=precision, metric=metric)
    course = Course(timeline, timeline_bin, trace_events)
    return run_scenario(
        *(scenario, overrides or []),
        options=changes, trace=trace, course=course, out=out, as_json=as_json,
    )  # fmt: skip
