"""A dashboard of our own in a process of its own, and a real Chromium to look at it."""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
LONGEST_START_S = 60.0


@dataclass(frozen=True)
class Dashboard:
    """A dashboard that was started for these tests, and ends with them."""

    url: str
    log: Path


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """Start it from a folder that is not ours, as a user may."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("dashboard") / "log.txt"
    script = ROOT / "app" / "dashboard" / "app.py"
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=log.parent, stdout=out, stderr=subprocess.STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_healthy(url, process, log)
            yield Dashboard(url, log)
        finally:
            process.terminate()
            process.wait(timeout=20)


@pytest.fixture(scope="session")
def dashboard_url(dashboard: Dashboard) -> str:
    return dashboard.url


@pytest.fixture(scope="session")
def dashboard_log(dashboard: Dashboard) -> Path:
    return dashboard.log


def wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    give_up_s = time.monotonic() + LONGEST_START_S
    while time.monotonic() < give_up_s and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"the dashboard did not start: {log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(chromium))
        yield opened
        opened.close()
