"""The commands that put decoding strategies side by side: `compare`, `passes`, `drift`.

As in `main`, nothing heavy is imported before a command runs.
"""

from typing import Annotated

import typer

from app.cli import options


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(name="compare")(compare_command)
    app.command(name="passes")(passes_command)
    app.command(name="drift")(drift_command)


def compare_command(
    scenario: options.Reference,
    *,
    strategies: options.Strategies = None,
    overrides: options.Overrides = None,
    trace: options.TraceFile = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> int:
    """Run a scenario under several decoding strategies: who wins where, and why."""
    from app.cli.comparison import compare_strategies

    return compare_strategies(
        scenario, overrides or [], strategies, trace=trace, seed=seed, as_json=as_json
    )


def passes_command(
    scenario: options.Reference,
    *,
    strategies: options.Strategies = None,
    overrides: options.Overrides = None,
    input_tokens: options.Prompt = None,
    output_tokens: options.Answer = None,
    batch: options.Together = 1,
    out: options.OutFolder = None,
    as_json: options.AsJson = False,
) -> int:
    """Take one request apart under each strategy: passes, work, and what the user sees when."""
    from app.cli.passes import show_passes

    return show_passes(
        scenario,
        overrides or [],
        strategies,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        batch=batch,
        out=out,
        as_json=as_json,
    )


def drift_command(
    scenario: options.Reference,
    *,
    overrides: options.Overrides = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="DOMAIN=SHARE,…", help="Mix that the workload moves to."),
    ] = None,
    trace: options.TraceFile = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> int:
    """Let acceptance drift: what speculation still gains, and where it breaks even."""
    from app.cli.drift import drift_scenario

    return drift_scenario(
        scenario, overrides or [], to=to, trace=trace, seed=seed, as_json=as_json
    )
