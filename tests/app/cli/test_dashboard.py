"""`paretoken app`: starts Streamlit on our page, or says what is missing."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.cli import dashboard


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Collect the commands instead of running them."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(dashboard, "find_spec", lambda _: object())
    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_it_starts_streamlit_on_the_page_that_is_installed(
    paretoken: Any, started: list[list[str]]
) -> None:
    answered = paretoken("app", "--port", "8600")
    assert (answered.code, answered.err) == (0, "")
    (command,) = started
    page = next(part for part in command if part.endswith("app.py"))
    assert Path(page).is_file()
    assert command[command.index("--server.port") + 1] == "8600"
    assert "--server.headless" in command


def test_it_listens_to_this_machine_only_and_reports_to_nobody(
    paretoken: Any, started: list[list[str]]
) -> None:
    paretoken("app")
    (command,) = started
    assert command[command.index("--server.address") + 1] == "localhost"
    assert command[command.index("--browser.gatherUsageStats") + 1] == "false"


def test_a_folder_called_app_where_the_user_stands_does_not_matter(
    paretoken: Any, started: list[list[str]]
) -> None:
    paretoken("app")
    assert "-P" in started[0]


def test_without_streamlit_it_says_how_to_install_it(
    paretoken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboard, "find_spec", lambda _: None)
    answered = paretoken("app")
    assert (answered.code, answered.out) == (2, "")
    assert "pip install 'paretoken[app]'" in answered.err
