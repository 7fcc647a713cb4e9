"""The page on fits of few timings: shares are counted as it says."""

from dataclasses import replace

from calibration.fit.coverage_draw import Draw
from calibration.fit.coverage_page import page

DRAW = Draw("h200_sxm", "gemm.bf16", 9, stated=0.10, true=0.05, base=0.06, refused=False)


def test_covered_refused_and_worse_are_counted_by_hand() -> None:
    draws = [
        DRAW,
        replace(DRAW, true=0.2, base=0.1),  # not covered, and twice as bad as its sister
        replace(DRAW, true=0.062),  # worse by 3 %: as good as
        replace(DRAW, refused=True),  # wrongly: it was better
        replace(DRAW, refused=True, true=0.09),  # rightly
    ]
    text = page(draws)
    row = next(line for line in text.splitlines() if line.startswith("| gemm.bf16"))
    assert row == (
        "| gemm.bf16 | h200_sxm, h100_sxm | 9 | 5"
        " | 80 % | 10.0 % | 6.2 % | 6.0 % | 2 | 1 | 1 (1) |"
    )
    assert "5 fits, each of 9 or 60 timings" in text
    assert text.splitlines()[-1].startswith("| **all** |  | 9 | 5 | 80 % |")


def test_a_fit_as_good_as_its_sister_is_not_worse() -> None:
    assert not replace(DRAW, true=0.063, base=0.06).worse
    assert replace(DRAW, true=0.0631, base=0.06).worse
