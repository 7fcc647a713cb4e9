"""Number formats of weights, KV cache and arithmetic, and the bytes that each one takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

Precision = Literal["bf16", "fp16", "fp8", "fp8_block", "int8", "int4", "mxfp4", "nvfp4"]
"""Format of weights, of the KV cache, or of the operands of a matrix product.

`fp8` and `int8` carry a scale per tensor or channel, `fp8_block` one per block of 128 x 128,
`int4` one per group of weights (GPTQ, AWQ), `mxfp4` and `nvfp4` one per block of 32 and 16.
"""
HalfPrecision = Literal["bf16", "fp16"]
"""The 16-bit format that a GPU multiplies in."""
PRECISIONS: Final[tuple[Precision, ...]] = get_args(Precision)


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """Bits of one element, and of what each group of elements shares.

    Bits per weight = element + shared / group.
    """

    element_bits: int
    group_bits: int = 0
    """Scale, and zero point where the format has one, of one group."""
    group_elements: int = 1

    @property
    def bits_per_weight(self) -> float:
        """Mean bits of a stored weight, its share of scales included."""
        return self.element_bits + self.group_bits / self.group_elements


FORMATS: Final[Mapping[Precision, NumberFormat]] = MappingProxyType(
    {
        "bf16": NumberFormat(16),
        "fp16": NumberFormat(16),
        "fp8": NumberFormat(8),  # one scale per tensor or channel: less than 0.1 % of the weights
        "fp8_block": NumberFormat(8, group_bits=32, group_elements=128 * 128),
        "int8": NumberFormat(8),
        "int4": NumberFormat(4, group_bits=16 + 4, group_elements=128),  # 16-bit scale, zero point
        "mxfp4": NumberFormat(4, group_bits=8, group_elements=32),  # OCP MX 1.0: an E8M0 scale
        "nvfp4": NumberFormat(4, group_bits=8, group_elements=16),  # an E4M3 scale
    }
)
"""What checkpoints store. One 32-bit scale per tensor (NVFP4, FP8) is left out: it is one number
per matrix. Quantised checkpoints with another group size: see `bits_per_weight`."""

BITS_PER_WEIGHT: Final[Mapping[Precision, float]] = MappingProxyType(
    {name: number.bits_per_weight for name, number in FORMATS.items()}
)
BYTES_PER_WEIGHT: Final[Mapping[Precision, float]] = MappingProxyType(
    {name: bits / 8 for name, bits in BITS_PER_WEIGHT.items()}
)
"""Bytes of a stored weight, its share of scales included."""


def bits_per_weight(precision: Precision, group_elements: int | None = None) -> float:
    """Return the bits of a stored weight, scales included, for another group size.

    >>> bits_per_weight("int4"), bits_per_weight("int4", group_elements=32)
    (4.15625, 4.625)
    """
    number = FORMATS[precision]
    if group_elements is None or not number.group_bits:
        return number.bits_per_weight
    return NumberFormat(number.element_bits, number.group_bits, group_elements).bits_per_weight
