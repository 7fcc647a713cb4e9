"""`paretoken app`: open the dashboard."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import app.dashboard
from sim.errors import InputError


def start_dashboard(*, port: int | None) -> int:
    """Start Streamlit in a process of its own and wait for it."""
    if find_spec("streamlit") is None:
        raise InputError(
            "the dashboard needs Streamlit, which is not installed",
            remedy="install it with: pip install 'paretoken[app]'",
        )
    page = Path(app.dashboard.__file__).with_name("app.py")
    command = [sys.executable, "-m", "streamlit", "run", str(page)]
    options = [] if port is None else ["--server.port", str(port)]
    # Streamlit reads .streamlit/config.toml beside the page: address, theme, no telemetry.
    return subprocess.run([*command, *options], check=False).returncode
