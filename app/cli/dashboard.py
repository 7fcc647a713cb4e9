"""`paretoken app`: open the dashboard."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from signal import SIGINT
from typing import Final

import app.dashboard
from app.cli.exits import ANSWER, INTERRUPTED
from sim.errors import InputError

_PRIVATE: Final = ("--server.address", "localhost", "--browser.gatherUsageStats", "false")
"""Nothing listens to other machines, and nothing is reported to anybody."""
_SETTINGS: Final = ("--server.headless", "true", *_PRIVATE)
"""The address is printed; a browser is the user's to open, perhaps on another screen."""


def start_dashboard(*, port: int | None) -> int:
    """Start Streamlit in a process of its own and wait for it."""
    if find_spec("streamlit") is None:
        raise InputError(
            "the dashboard needs Streamlit, which is not installed",
            remedy="install it with: pip install 'paretoken[app]'",
        )
    page = Path(app.dashboard.__file__).with_name("app.py")
    # -P: a folder `app` or `streamlit` where the user stands must not be taken for the package.
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(page), *_SETTINGS]
    options = [] if port is None else ["--server.port", str(port)]
    # Streamlit reads .streamlit/config.toml beside the page: address, theme, no telemetry.
    code = subprocess.run([*command, *options], check=False).returncode
    if code not in {0, -SIGINT, INTERRUPTED}:
        raise InputError(
            f"the dashboard ended with exit code {code}; its own message stands above",
        )
    return ANSWER
