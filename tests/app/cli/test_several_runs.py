"""`paretoken run` with several seeds: what is asked of them, and Ctrl-C."""

import json
from pathlib import Path
from typing import Any

import pytest

from sim.planning import thorough

FEW = ("--set", "run.requests=200")


def test_an_interrupt_reports_and_writes_the_seeds_that_are_done(
    paretoken: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = thorough._serve

    def serve(task: Any) -> Any:
        if task.seed == 2:
            raise KeyboardInterrupt
        return real(task)

    monkeypatch.setattr(thorough, "_serve", serve)
    answered = paretoken("run", "small.yaml", *FEW, "--seeds", "5", "--out", "there")
    assert (answered.code, answered.err) == (130, "paretoken: Interrupted.\n")
    assert "interrupted after 2 of 5 seeds" in answered.out
    written = json.loads((tmp_path / "there" / "outcome.json").read_text("utf-8"))
    assert written["replications"]["runs"] == 2


@pytest.mark.parametrize(("precision", "code"), [("0.01%", 1), ("90%", 0)])
def test_a_figure_that_is_not_as_precise_as_asked_is_a_no(
    paretoken: Any, precision: str, code: int
) -> None:
    asked = ("--seeds", "3", "--precision", precision, "--metric", "requests_per_s")
    answered = paretoken("run", "small.yaml", *FEW, *asked)
    assert answered.code == code
    assert ("not reached" in answered.out) == (code == 1)
