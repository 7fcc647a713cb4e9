"""The command line: what can be asked, and in which file it is answered.

Nothing heavy is imported here, so that `--help` is quick: a command loads what it needs when it
runs. Exit codes: 0 an answer, 1 the answer is no, 2 the input is wrong, 130 interrupted.
"""

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, TextIO

import typer

from app.cli import calibrate, comparing, options, run_command, studies
from app.cli.exits import (
    INTERRUPTED,
    WRONG_INPUT,
    complain,
    error_sentence,
    usage_sentence,
)

_USAGE_ERROR: Final[type[Exception]] = typer.BadParameter.__mro__[1]
"""Base of the errors that Typer raises for wrong options; it has no public name there."""

GARBAGE_LOOKED_FOR_AT: Final = 100_000
"""Objects that come on top before Python looks for cycles among them (700 unless told)."""

app = typer.Typer(
    name="paretoken",
    epilog="Start with: paretoken run chat-70b-h100",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(calibrate.group, name="calibrate")


@app.callback()
def root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Cost, latency and throughput of LLM inference, for each decoding strategy."""
    if version:
        from sim import __version__

        print(f"paretoken {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(WRONG_INPUT)


run_command.add_to(app)


@app.command(name="frontier")
def frontier_command(
    scenario: options.Reference,
    *,
    overrides: options.Overrides = None,
    tensor_parallel: options.Widths = None,
    quick: options.Quick = False,
    trace: options.TraceFile = None,
    seed: options.Seed = None,
    out: options.OutFolder = None,
    as_json: options.AsJson = False,
) -> int:
    """Compare the decoding strategies of a scenario at every user speed."""
    from app.cli.frontier import sweep_scenario

    return sweep_scenario(
        scenario,
        overrides or [],
        tensor_parallel=tensor_parallel,
        quick=quick,
        trace=trace,
        seed=seed,
        out=out,
        as_json=as_json,
    )


@app.command(name="explain")
def explain_command(
    scenario: options.MaybeReference = None,
    *,
    overrides: options.Overrides = None,
    models: options.Models = None,
    hardware: options.Hardware = None,
    tensor_parallel: options.Width = None,
    weights: options.Weights = None,
    batch: options.Batch = None,
    context: options.Context = None,
    as_json: options.AsJson = False,
) -> int:
    """Take one pass apart; or, with --model twice, see what architecture buys."""
    if models:
        from app.cli.compare import compare_models

        return compare_models(
            models,
            scenario,
            overrides or [],
            hardware=hardware,
            tensor_parallel=tensor_parallel,
            weights=weights,
            batches=batch,
            contexts=context,
            as_json=as_json,
        )
    from app.cli.explain import explain_scenario

    return explain_scenario(
        scenario,
        overrides or [],
        alone=(hardware, tensor_parallel, weights),
        batch=batch,
        context=context,
        as_json=as_json,
    )


comparing.register(app)
studies.add_to(app)


@app.command(name="validate")
def validate_command(
    runs: options.Runs,
    *,
    scenario: options.ServedAs = None,
    overrides: options.Overrides = None,
    ttft: options.TtftStatistic = "mean",
    settings: options.WhoseSettings = None,
    out: options.OutFolder = None,
    as_json: options.AsJson = False,
) -> int:
    """Compare measured serving runs with the simulator."""
    from app.cli.validate import validate_runs

    served = (scenario, overrides or [])
    return validate_runs(runs, served, ttft=ttft, settings=settings, out=out, as_json=as_json)


@app.command(name="init")
def init_command(
    name: Annotated[str, typer.Argument(help="Name of the scenario and its file.")] = "scenario",
) -> int:
    """Write a commented scenario to start from."""
    from app.cli.init import write_starter

    return write_starter(name)


@app.command(name="list")
def list_command(
    kind: options.Kind,
    word: Annotated[
        str | None, typer.Argument(metavar="WORD", help="Only what has it in its name.")
    ] = None,
    *,
    as_json: options.AsJson = False,
) -> int:
    """List what a scenario can name, and what it costs."""
    from app.cli.catalog import list_kind

    return list_kind(kind, word, as_json=as_json)


@app.command(name="show")
def show_command(
    kind: Annotated[
        options.OneKind,
        typer.Argument(help="What it is."),
    ],
    reference: Annotated[str, typer.Argument(metavar="NAME_OR_FILE", help="Which one.")],
    *,
    as_json: options.AsJson = False,
) -> int:
    """Show all that is known of one model, GPU, engine, list, workload, scenario or table."""
    from app.cli.show import show_one

    return show_one(kind, reference, as_json=as_json)


@app.command(name="schema")
def schema_command() -> int:
    """Print every key of a scenario file, as JSON Schema."""
    from app.cli.schema import print_schema

    return print_schema()


@app.command(name="app")
def app_command(
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65_535, help="Port of the dashboard.")
    ] = None,
) -> int:
    """Start the dashboard and print its address."""
    from app.cli.dashboard import start_dashboard

    return start_dashboard(port=port)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the `paretoken` command."""
    # A shell may close them (`>&-`); Python then has None there, and whoever writes fails.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    # Imports make many objects and no garbage: to walk them again and again takes a tenth of them.
    gc.set_threshold(GARBAGE_LOOKED_FOR_AT, *gc.get_threshold()[1:])
    sys.exit(execute(sys.argv[1:] if arguments is None else arguments))


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def execute(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; errors of the user become one sentence."""
    try:
        code = app(args=list(arguments), prog_name="paretoken", standalone_mode=False)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except _USAGE_ERROR as error:
        return complain(usage_sentence(error), WRONG_INPUT)
    except Exception as error:
        sentence = error_sentence(error)
        if sentence is None:
            raise
        return complain(sentence, WRONG_INPUT)
    if code == INTERRUPTED:
        return complain("Interrupted.", INTERRUPTED)
    return int(code or 0)
