"""The command as a process of its own: start-up, pipes, the pieces a shell sees."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "from app.cli.main import main; main()"]


def paretoken(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


COMMANDS = ("run", "frontier", "explain", "validate", "init", "list", "show", "schema", "app")


def test_help_names_every_command() -> None:
    shown = paretoken("--help").stdout
    assert not [command for command in COMMANDS if f"\n  {command} " not in shown]


def test_help_loads_nothing_but_typer() -> None:
    script = (
        "import sys; from app.cli.main import execute; execute(['--help']);"
        "print(*sorted({'numpy', 'pydantic', 'rich', 'simpy', 'yaml'} & set(sys.modules)),"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not done.stderr.strip()


def test_a_run_loads_neither_plotly_nor_pyarrow_nor_pandas_nor_scipy() -> None:
    script = (
        "import sys; from app.cli.main import execute;"
        "execute(['run', 'bench-8b-a100', '--set', 'run.requests=100', '--json']);"
        "print(*sorted({'pandas', 'plotly', 'pyarrow', 'scipy'} & set(sys.modules)),"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not done.stderr.strip()


def test_without_a_command_the_help_goes_to_stderr() -> None:
    done = paretoken()
    assert (done.returncode, done.stdout) == (2, "")
    assert "Commands:" in done.stderr


def test_the_version_is_that_of_the_distribution() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert paretoken("--version").stdout == f"paretoken {version}\n"


def test_a_reader_that_leaves_early_ends_it_without_a_word() -> None:
    process = subprocess.Popen(
        [*COMMAND, "schema"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_a_terminal_that_knows_ascii_only_gets_an_answer_too() -> None:
    done = subprocess.run(
        [*COMMAND, "list", "models"],
        cwd=ROOT,
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"llama-3.1-8b" in done.stdout


def test_json_escapes_what_the_encoding_of_the_reader_lacks() -> None:
    done = subprocess.run(
        [
            *COMMAND,
            "run",
            "chat-70b-h100",
            "--set",
            "run.requests=50",
            "--set",
            "name=é",
            "--json",
        ],
        cwd=ROOT,
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert json.loads(done.stdout)["scenario"]["name"] == "é"


def test_a_closed_stdout_is_no_mistake_of_the_program() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "list", "models"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("columns", ["0", "wide", ""])
def test_columns_that_say_nothing_mean_the_width_of_a_file(
    monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    done = paretoken("list", "models")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_narrow_terminal_cuts_no_number_and_no_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("run", "bench-8b-a100", "--set", "run.requests=100")
    monkeypatch.setenv("COLUMNS", "120")
    wide = paretoken(*arguments).stdout
    monkeypatch.setenv("COLUMNS", "40")
    narrow = paretoken(*arguments).stdout
    times = re.compile(r"[\d.,]+ (?:ms|s|GB)\b")
    assert sorted(times.findall(_joined(narrow))) == sorted(times.findall(_joined(wide)))


def _joined(text: str) -> str:
    return " ".join(text.split())


def test_ctrl_c_while_modules_load_is_one_sentence() -> None:
    script = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from app.cli.entry import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "paretoken: Interrupted.\n")
