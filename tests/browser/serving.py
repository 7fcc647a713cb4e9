"""A dashboard in a process of its own, for tests, the benchmark and the picture."""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "app" / "dashboard" / "app.py"
LONGEST_START_S = 60.0


@dataclass(frozen=True)
class Dashboard:
    """Where it listens, and what it says."""

    url: str
    log: Path


@contextmanager
def serving(folder: Path) -> Iterator[Dashboard]:
    """Serve the dashboard on a free port of this machine, started from `folder`, as a user may."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    dashboard = Dashboard(f"http://127.0.0.1:{port}", folder / "dashboard.log")
    command = [sys.executable, "-m", "streamlit", "run", str(SCRIPT), "--server.port", str(port)]
    with dashboard.log.open("w") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        try:
            _wait_until_healthy(dashboard, process)
            yield dashboard
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait_until_healthy(dashboard: Dashboard, process: subprocess.Popen[bytes]) -> None:
    give_up_s = time.monotonic() + LONGEST_START_S
    while time.monotonic() < give_up_s and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{dashboard.url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the dashboard did not start: {dashboard.log.read_text()[-2000:]}")
