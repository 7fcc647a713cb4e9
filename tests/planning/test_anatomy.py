"""One request taken apart, against counts by hand."""

import pytest

from sim.errors import InputError
from sim.planning.anatomy import Anatomy, anatomy
from sim.planning.strategies import entries
from sim.report.anatomy import WIDTH, anatomy_answer, anatomy_document, anatomy_tables, timelines
from sim.report.figures.anatomy import anatomy_figure, anatomy_html
from sim.scenario import Scenario, load_scenario

DIFFUSION = (
    "{name: diffusion, cache: dual, block_tokens: 32, denoise_passes: 4, canvas_tokens: 128,"
    " what_if: true}"
)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    changes = ("model=llama-3.1-8b", "deployment.tensor_parallel=1", f"strategies=[{DIFFUSION}]")
    return load_scenario("block-diffusion-what-if", changes)


@pytest.fixture(scope="module")
def found(scenario: Scenario) -> list[Anatomy]:
    return [
        anatomy(scenario, entry, input_tokens=200, output_tokens=100)
        for entry in entries(scenario)
    ]


def test_passes_positions_and_tokens_are_those_of_the_plan(found: list[Anatomy]) -> None:
    blocks = next(one for one in found if one.entry.decoding.name == "block_diffusion")
    strategy = blocks.entry.decoding
    assert blocks.passes == 1 + round(strategy.mean_passes(100))
    assert [part.kind for part in blocks.stretches] == ["prefill", "decode"]
    assert blocks.stretches[0].positions_per_pass == 200
    canvas = next(one for one in found if one.entry.decoding.name == "diffusion")
    assert canvas.passes == 16  # four blocks of four
    assert [part.passes for part in canvas.stretches] == [1, 3] * 4
    assert [part.positions_per_pass for part in canvas.stretches] == [328, 32] * 4
    assert [seen.tokens for seen in canvas.seen] == [32, 64, 96, 100]


def test_flop_are_two_for_each_weight_and_position(found: list[Anatomy]) -> None:
    canvas = next(one for one in found if one.entry.decoding.name == "diffusion")
    layers = 8_030_261_248 - 2 * 128_256 * 4096  # without embedding and head
    head, attention = 128_256 * 4096 * 32, 328 * 328 * 32 * 4096 * 2
    padded = 336  # graphs of this engine are captured for multiples of 8 tokens
    whole = 2 * (padded * layers + head + attention)
    assert canvas.stretches[0].flop == pytest.approx(whole, rel=0.01)


def test_stretches_follow_each_other_to_the_last_token(found: list[Anatomy]) -> None:
    for one in found:
        end_s = 0.0
        for part in one.stretches:
            assert part.begin_s == pytest.approx(end_s)
            end_s = part.end_s
        assert end_s == pytest.approx(one.total_s)
        assert one.seen[-1].tokens == 100
        times = [seen.at_s for seen in one.seen]
        assert times == sorted(times)


def test_of_several_that_are_seen_together_the_last_one_decodes_with_all() -> None:
    at_once = "engine_options={tokenise_us_per_token: 0}"  # else they are seen one by one
    scenario = load_scenario(
        "block-diffusion-what-if",
        ("model=llama-3.1-8b", "deployment.tensor_parallel=1", at_once),
    )
    entry = entries(scenario)[0]
    alone = anatomy(scenario, entry, input_tokens=200, output_tokens=100)
    many = anatomy(scenario, entry, input_tokens=200, output_tokens=100, batch=16)
    per_pass = alone.stretches[-1].positions_per_pass
    assert many.stretches[-1].positions_per_pass == pytest.approx(16 * per_pass)
    assert many.total_s > alone.total_s


def test_what_can_never_run_is_refused_in_one_sentence(scenario: Scenario) -> None:
    entry = next(item for item in entries(scenario) if item.decoding.name == "diffusion")
    with pytest.raises(InputError, match="can never run"):
        anatomy(scenario, entry, input_tokens=100_000, output_tokens=100)


def test_timelines_are_to_one_scale(found: list[Anatomy]) -> None:
    bars = [line for line in timelines(found) if line.startswith("  ") and set(line) & set("░█")]
    longest = max(found, key=lambda one: one.total_s)
    assert max(len(line.rstrip()) - 2 for line in bars) in {WIDTH, WIDTH + 1}
    assert longest.entry.label in timelines(found)


def test_tables_figure_page_and_document_hold_every_strategy(found: list[Anatomy]) -> None:
    labels = {one.entry.label for one in found}
    for table in anatomy_tables(found):
        assert labels <= {row[0] for row in table.rows}
    assert labels <= {trace.name for trace in anatomy_figure(found).data}
    page = anatomy_html(found, dark=True)
    assert all(label in page for label in labels)
    assert anatomy_answer(found).startswith("A request of 200 tokens in and 100 out")
    assert len(anatomy_document(found)["strategies"]) == len(found)
