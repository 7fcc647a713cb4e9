"""Commands that run several simulations to make one point."""

import typer

from app.cli import options


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.command(name="coldstart")(coldstart_command)
    app.command(name="claims")(claims_command)


def coldstart_command(
    scenario: options.Reference,
    *,
    overrides: options.Overrides = None,
    as_json: options.AsJson = False,
) -> int:
    """Start a deployment from nothing: when it is ready, phase by phase, and who waits."""
    from app.cli.cold_start import show_cold_start

    return show_cold_start(scenario, overrides or [], as_json=as_json)


def claims_command(*, out: options.OutFolder = None, as_json: options.AsJson = False) -> int:
    """Measure one deployment as benchmarks do, and as users do: docs/claims.md."""
    from app.cli.claims import show_claims

    return show_claims(out=out, as_json=as_json)
