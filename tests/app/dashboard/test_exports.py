"""The files that Explore offers, and an answer that is pinned."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from app.dashboard import exports, pins
from app.dashboard.choices import choices_of
from app.dashboard.pins import Pin
from app.dashboard.tiles import Tile, tiles
from sim.report.files import FILES
from sim.run import Outcome, run
from sim.scenario import load_scenario

SCRIPT = Path(__file__).parents[3] / "app" / "dashboard" / "app.py"


def test_the_scenario_that_is_taken_gives_the_same_answer(
    outcome: Outcome, tmp_path: Path
) -> None:
    path = tmp_path / "taken.yaml"
    path.write_bytes(exports.makers(outcome)["scenario.yaml"]())
    again = run(load_scenario(path))
    assert [tile.value for tile in tiles(again, None)] == [
        tile.value for tile in tiles(outcome, None)
    ]


def test_every_file_of_the_command_line_is_offered(outcome: Outcome) -> None:
    made = {name: make() for name, make in exports.makers(outcome).items()}
    assert set(made) == set(FILES)
    table = pq.read_table(io.BytesIO(made["requests.parquet"]))
    assert table.num_rows == outcome.simulation.measured - outcome.metrics.warmup_requests
    assert made["report.md"].startswith(b"# ")


def tile(
    name: str, number: float | None, *, is_share: bool = False, more_is_better: bool = False
) -> Tile:
    said = None if number is None else f"{number:g}"
    return Tile(
        *(name, said, "no interval", "assumed", ""),
        number=number, is_share=is_share, more_is_better=more_is_better,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        (tile("cost", 80.0), tile("cost", 100.0), "\u221220%, better"),
        (tile("cost", 103.0), tile("cost", 100.0), "+3.0%, worse"),
        (tile("speed", 150.0, more_is_better=True), tile("speed", 100.0), "+50%, better"),
        (
            tile("share", 0.95, is_share=True, more_is_better=True),
            tile("share", 0.99, is_share=True),
            "\u22124.0 points, worse",
        ),
        (tile("cost", 100.0), tile("cost", 100.0), "no change"),
        (tile("cost", None), tile("cost", 100.0), "\u2014"),
    ],
)
def test_a_change_is_told_with_its_direction(now: Tile, then: Tile, said: str) -> None:
    choices = choices_of(load_scenario("chat-70b-h100"))
    (row,) = pins.table((now,), Pin((then,), choices))
    assert row["change"] == said


def test_what_was_chosen_otherwise_is_named() -> None:
    then = choices_of(load_scenario("chat-70b-h100"))
    now = replace(then, load=12.0, gpu="h200_sxm")
    assert pins.differences(now, then) == ["gpu h100_sxm, now h200_sxm", "load 8, now 12"]
    assert pins.differences(then, then) == []


@pytest.fixture
def click() -> Callable[[AppTest, str], None]:
    def press(page: AppTest, label: str) -> None:
        next(button for button in page.button if button.label == label).click().run()
        assert not page.exception

    return press


def test_a_pinned_answer_stands_beside_the_one_in_sight(
    click: Callable[[AppTest, str], None],
) -> None:
    page = AppTest.from_file(str(SCRIPT), default_timeout=60).run()
    click(page, "Pin to compare")
    assert "this very answer" in "".join(str(text.value) for text in page.markdown)
    page.number_input(key="e_replicas").set_value(8).run()
    assert not page.exception
    (table,) = page.table
    bill = table.value.to_numpy().tolist()[-1]
    assert bill[-1].replace("\u00a0", " ") == "+100%, worse"  # twice the GPUs
    assert "Pinned with replicas 4, now 8" in "".join(str(text.value) for text in page.markdown)
    click(page, "Unpin")
    assert not page.table
