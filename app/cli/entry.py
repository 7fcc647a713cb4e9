"""Where the `paretoken` command begins: Ctrl-C is one sentence, also while modules load."""

import sys


def main() -> None:
    """Load the command line and run it."""
    try:
        from app.cli.main import main as run_command_line

        run_command_line()
    except KeyboardInterrupt:
        print("paretoken: Interrupted.", file=sys.stderr)
        sys.exit(130)
