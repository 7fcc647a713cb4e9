"""The page of all fits says which are above what was aimed at."""

import pytest

from calibration.fit.overview import DOCUMENT, Cell, aim_of, document
from sim.hardware.evidence import Evidence


def _cell(first: float, again: float, aim: float | None) -> Cell:
    evidence = Evidence(
        kernels="vllm 1.0", points=99, range={}, held_out={"all": first}, held_out_again=again
    )
    return Cell(evidence, aim, borrowed=False)


def test_the_page_is_that_of_the_shipped_profiles() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document()


@pytest.mark.parametrize(
    ("part", "gpu", "aim"),
    [
        ("gemm.bf16", "h200_sxm", 0.06),
        ("gemm.bf16", "a100_sxm_80gb", 0.08),
        ("gemm.fp8_block", "h100_sxm", 0.10),
        ("decode_attention.fp8", "b200_sxm", 0.07),
        ("experts.mxfp4", "gb300", 0.12),
        ("all_reduce", "h100_sxm", 0.12),
        ("all_reduce", "l40s", None),
        ("all_to_all", "h100_sxm", None),
    ],
)
def test_aims_are_those_that_were_set(part: str, gpu: str, aim: float | None) -> None:
    assert aim_of(part, gpu) == aim


def test_an_error_above_its_aim_under_one_split_is_bold() -> None:
    assert _cell(0.05, 0.0615, 0.06).text == "**5.0 / 6.2**"
    assert _cell(0.05, 0.0604, 0.06).text == "5.0 / 6.0"
    assert _cell(0.3, 0.4, None).text == "30.0 / 40.0"
