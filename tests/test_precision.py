"""Bytes of a stored weight, against what the formats' specifications say."""

import pytest

from sim.deployment import BYTES_PER_ELEMENT
from sim.precision import BITS_PER_WEIGHT, PRECISIONS, Precision, bits_per_weight


@pytest.mark.truth
@pytest.mark.parametrize(
    ("precision", "bits"),
    [
        ("bf16", 16),
        ("fp16", 16),
        ("fp8", 8),
        ("fp8_block", 8 + 32 / 128**2),  # DeepSeek-V3: one FP32 scale per 128 x 128
        ("int8", 8),
        ("int4", 4 + (16 + 4) / 128),  # AWQ: FP16 scale and 4-bit zero point per 128
        ("mxfp4", 4.25),  # OCP MX 1.0: an 8-bit scale per 32
        ("nvfp4", 4.5),  # an FP8 scale per 16
    ],
)
def test_a_weight_takes_the_bits_of_its_format_and_its_share_of_scales(
    precision: Precision, bits: float
) -> None:
    assert BITS_PER_WEIGHT[precision] == pytest.approx(bits)
    assert BYTES_PER_ELEMENT[precision] == pytest.approx(bits / 8)


def test_smaller_groups_take_more_room_for_scales() -> None:
    assert bits_per_weight("int4", 32) == pytest.approx(4 + 20 / 32)
    assert bits_per_weight("bf16", 32) == 16
    assert set(BITS_PER_WEIGHT) == set(PRECISIONS)
