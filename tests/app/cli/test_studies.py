"""Commands that make one point with several simulations."""

import json
from pathlib import Path

from tests.app.cli.conftest import Command


def test_a_cold_start_is_told_phase_by_phase(paretoken: Command) -> None:
    answered = paretoken("coldstart", "small.yaml")
    assert answered.code == 0
    assert answered.out.startswith("small is ready")
    for phase in ("provision", "weights", "compile", "graph capture", "ready"):
        assert phase in answered.out


def test_what_is_known_better_is_given_by_keys(paretoken: Command) -> None:
    answered = paretoken(
        "coldstart", "small.yaml", "--json", "--set", "cold_start.loader=streamer",
        "--set", "cold_start.provision_s=0",
    )  # fmt: skip
    document = json.loads(answered.out)
    assert document["loader"] == "streamer"
    assert document["phases"][0]["seconds"] == 0
    assert document["ready_s"] == sum(phase["seconds"] for phase in document["phases"])
    assert all(phase["source"] for phase in document["phases"])


def test_the_claims_are_printed_and_written(paretoken: Command, tmp_path: Path) -> None:
    answered = paretoken("claims", "--out", "docs")
    assert answered.code == 0
    assert "closed loop" in answered.out
    page = (tmp_path / "docs" / "claims.md").read_text("utf-8")
    assert page.startswith("# The story a benchmark tells")
    assert (
        len(list((tmp_path / "docs" / "claims").glob("*.svg"))) == 10
    )  # four of benchmarks, six of decoding
