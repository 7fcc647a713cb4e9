"""The roofline: roofs of datasheet and fit, and the operations under them."""

from itertools import pairwise

import pytest

from sim.cost import ForwardPass, Operation, PassLoad
from sim.deployment import Deployment
from sim.hardware import load_engine, load_fitted, load_gpu
from sim.model import load_model
from sim.report.figures import roofline_figure, roofline_finding
from sim.report.figures.roof import Roof, roof_of

GPU = load_gpu("h100_sxm")
FITTED = load_fitted(GPU, "generic")


def one_pass(batch: int, queries: int = 1) -> tuple[Operation, ...]:
    cost = ForwardPass(
        load_model("llama-3.1-8b"), GPU, FITTED, load_engine("generic"), Deployment()
    )
    tokens = batch * 1000.0
    return cost.operations(
        PassLoad(batch, batch * queries, batch * queries, tokens, queries * tokens)
    )


def test_the_datasheet_roof_is_flat_at_the_peak_and_bends_at_peak_over_bandwidth() -> None:
    # H100 SXM, dense bf16: 989.5 TFLOP/s and 3.35 TB/s (datasheet) meet at 295 FLOP per byte.
    roof = roof_of(GPU, FITTED, "bf16")
    assert roof.datasheet(1e5) == pytest.approx(989.5e12)
    assert roof.datasheet(100) == pytest.approx(335e12)
    assert roof.datasheet(295.4) == pytest.approx(989.5e12, rel=1e-3)


def test_the_fitted_roof_meets_its_efficiencies_far_from_the_bend() -> None:
    roof = Roof(peak_flop_per_s=1000, peak_bytes_per_s=10, flop_per_s=600, bytes_per_s=8, p=4)
    assert roof.fitted(1e6) == pytest.approx(600)
    assert roof.fitted(1e-3) == pytest.approx(8e-3)
    # At the bend both take as long: the p-norm of two equal times is 2^(1/p) of one.
    assert roof.ridge_flop_per_byte == 75
    assert roof.fitted(75) == pytest.approx(600 / 2**0.25)


def test_no_roof_of_the_fit_lies_above_the_datasheet() -> None:
    roof = roof_of(GPU, FITTED, "fp8")
    for power in range(-2, 6):
        assert roof.fitted(10.0**power) < roof.datasheet(10.0**power)


@pytest.mark.parametrize("batch", [1, 64, 4096])
def test_every_product_and_attention_has_its_mark_under_the_datasheet(batch: int) -> None:
    operations = one_pass(batch)
    marks = roofline_figure(GPU, FITTED, operations).data[-1]
    expected = [o for o in operations if o.flop and o.bytes_moved]
    assert list(marks.x) == pytest.approx([o.flop / o.bytes_moved for o in expected])
    assert list(marks.y) == pytest.approx([o.flop / o.seconds / 1e12 for o in expected])
    roof = roof_of(GPU, FITTED, "bf16")
    assert all(y * 1e12 <= roof.datasheet(x) for x, y in zip(marks.x, marks.y, strict=True))


def test_all_marks_and_names_are_inside_the_drawing() -> None:
    for batch in (1, 64, 4096):
        drawn = roofline_figure(GPU, FITTED, one_pass(batch, 4), baseline=one_pass(batch))
        marks, layout = drawn.data[-1], drawn.layout
        assert all(10 ** layout.xaxis.range[0] < x < 10 ** layout.xaxis.range[1] for x in marks.x)
        assert all(10 ** layout.yaxis.range[0] < y < 10 ** layout.yaxis.range[1] for y in marks.y)
        names = [note for note in layout.annotations if note.xref == "paper"]
        assert len(names) == len(marks.x) + 2  # and the two roofs
        assert all(0 <= note.y <= 1 for note in names)
        heights = sorted(note.y for note in names)
        assert all(after - before > 0.05 for before, after in pairwise(heights))


def test_an_arrow_leads_from_each_operation_decoded_one_token_at_a_time() -> None:
    plain = roofline_figure(GPU, FITTED, one_pass(8, 4))
    compared = roofline_figure(GPU, FITTED, one_pass(8, 4), baseline=one_pass(8))
    assert len(compared.data) - len(plain.data) == len(plain.data[-1].x)


def test_the_ridge_is_labelled_in_tokens_per_pass_or_said_to_be_missing() -> None:
    def words(tokens: int | None) -> str:
        drawn = roofline_figure(GPU, FITTED, one_pass(8), ridge_tokens_per_pass=tokens)
        return str(next(note.text for note in drawn.layout.annotations if note.xref == "x"))

    assert words(1012) == "<b>ridge</b> 1,012<br>tokens per pass"
    assert "no ridge" in words(None)


@pytest.mark.parametrize(
    ("positions", "ridge", "finding"),
    [
        (105.0, 223.0, "105 tokens per pass, 2.1× below the ridge"),
        (446.0, 223.0, "446 tokens per pass, 2.0× above the ridge"),
        (223.0, 223.0, "223 tokens per pass: at the ridge"),
        (64.0, None, "64 tokens per pass: always memory-bound"),
    ],
)
def test_the_finding_is_the_distance_to_the_ridge(
    positions: float, ridge: float | None, finding: str
) -> None:
    assert roofline_finding(positions, ridge) == finding


def test_the_finding_stays_on_one_line() -> None:
    for ridge in (None, 1.0, 1e6):
        assert len(roofline_finding(123_456.0, ridge, unit="positions")) <= 52
