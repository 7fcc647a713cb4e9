"""What README and docs tell people to type works, and links lead somewhere."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from app.cli.main import execute

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def console_blocks(page: Path) -> list[tuple[int, str]]:
    """Return each console block of a page with the line that it begins in."""
    text = page.read_text("utf-8")
    found = re.finditer(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [(text[: match.start()].count("\n") + 2, match.group(1)) for match in found]


def sessions(block: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a block, each with the output that the page shows below it."""
    typed: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            typed.append((line.removeprefix("$ "), []))
        else:
            typed[-1][1].append(line)
    return typed


@pytest.mark.parametrize(
    "page", [page for page in PAGES if console_blocks(page)], ids=lambda page: page.name
)
def test_every_command_that_a_page_shows_gives_an_answer(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for line, block in console_blocks(page):
        for command, shown in sessions(block):
            where = f"{page.name}:{line}: {command}"
            if not command.startswith("paretoken "):
                subprocess.run(["/bin/sh", "-c", command], check=True)
                continue
            # Here and not in a process of its own: that is most of the time.
            code = execute(shlex.split(command)[1:])
            out, err = capsys.readouterr()
            assert (code in {0, 1}, err) == (True, ""), where
            assert out.startswith("\n".join(shown)), f"{where}\n{out[:400]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_of_ours_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    broken = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not broken


def test_the_make_targets_of_the_readme_exist() -> None:
    targets = set(re.findall(r"`?make ([a-z-]+)", (ROOT / "README.md").read_text("utf-8")))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert {"demo", "test"} <= targets
    assert not [name for name in targets if not re.search(rf"^{name}:", makefile, re.MULTILINE)]
