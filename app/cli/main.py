"""The command line: what can be asked, and in which file it is answered.

Nothing heavy is imported here, so that `--help` is quick: a command loads what it needs when it
runs. Exit codes: 0 an answer, 1 the answer is no, 2 the input is wrong, 130 interrupted.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from app.cli.exits import INTERRUPTED, WRONG_INPUT, complain

_USAGE_ERROR: Final[type[Exception]] = typer.BadParameter.__mro__[1]
"""Base of the errors that Typer raises for wrong options; it has no public name there."""

app = typer.Typer(
    name="paretoken",
    help="Cost, latency and throughput of LLM inference, for each decoding strategy.",
    epilog="Start with: paretoken run chat-70b-h100",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Reference = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of a built-in one.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key; may be repeated."),
]
TraceFile = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="Replay this CSV instead of the workload."),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Random seed.")]
OutFolder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write the results there, too.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from sim import __version__

        print(f"paretoken {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options before the command; `--version` answers through its callback."""


@app.command(name="run")
def run_command(
    scenario: Reference,
    *,
    overrides: Overrides = None,
    trace: TraceFile = None,
    seed: Seed = None,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> int:
    """Simulate a scenario: the answer in one sentence, then the tables behind it."""
    from app.cli.run import run_scenario

    return run_scenario(
        scenario, overrides or [], trace=trace, seed=seed, out=out, as_json=as_json
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the `paretoken` command."""
    sys.exit(execute(sys.argv[1:] if arguments is None else arguments))


def execute(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; errors of the user become one sentence."""
    try:
        code = app(args=list(arguments), prog_name="paretoken", standalone_mode=False)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except _USAGE_ERROR as error:
        return complain(_usage_sentence(error), WRONG_INPUT)
    except Exception as error:
        sentence = _sentence(error)
        if sentence is None:
            raise
        return complain(sentence, WRONG_INPUT)
    if code == INTERRUPTED:
        return complain("Interrupted: no result was written.", INTERRUPTED)
    return int(code or 0)


def _usage_sentence(error: Exception) -> str:
    """Return what is wrong with the options, in one line, and where help is found."""
    message = getattr(error, "message", "") or str(error)
    text = getattr(error, "format_message", lambda: message)()
    context = getattr(error, "ctx", None)
    command = "paretoken" if context is None else context.command_path
    return f"{' '.join(text.split()).rstrip('.')}; see {command} --help"


def _sentence(error: Exception) -> str | None:
    """Return what the user should know of an error, or None where it is our own mistake."""
    from sim.errors import SimError

    if isinstance(error, SimError):
        return " ".join(str(error).split())
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return f"{error.filename}: {reason}" if error.filename else reason
    return None
