"""docs/few_timings.md: how honest the stated errors of fits of few timings are."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from calibration.fit.coverage_draw import COUNTS, PAIRS, PARTS, Draw
from calibration.markdown import markdown_table
from sim.report.files import write_whole

DOCUMENT: Final = Path(__file__).resolve().parents[2] / "docs" / "few_timings.md"
MUCH: Final = 1.5
"""A fit that is so much worse than its base should have been refused."""
_INTRODUCTION: Final = """\
# Fits of few timings

Written by `python -m calibration.fit.coverage`. {draws} fits, each of 9 or 60 timings drawn at
random from the public tables of a GPU (vLLM's kernels), on the fit of a sister
([how](calibration.md#a-gpu-from-a-few-timings)). *Covered*: the share of draws in which the mean
error on all other timings of the table is no larger than the `error` that the profile states; it
should be 95 %. *Stated*, *true*, *sister*: medians over the draws, of the stated error, of that on
all other timings, and of the sister's fit on the same. *Refused*: the sister seemed better.
*Wrongly*: the fit was not worse by 5 % of the sister's error. *Taken, and worse*: by more than 5 %
of it; in brackets by more than half.
"""


def page(draws: Sequence[Draw]) -> str:
    """Return the page as Markdown."""
    heads = (
        *("kernel", "GPU, sister", "timings", "draws", "covered", "stated", "true", "sister"),
        *("refused", "wrongly", "taken, and worse"),
    )
    rows: list[tuple[str, ...]] = []
    for part in PARTS:
        for gpu, sister in PAIRS:
            for count in COUNTS:
                mine = [d for d in draws if (d.part, d.gpu, d.count) == (part, gpu, count)]
                if mine:
                    rows.append((part, f"{gpu}, {sister}", str(count), *_row(mine)))
    for count in COUNTS:
        mine = [draw for draw in draws if draw.count == count]
        if mine:
            rows.append(("**all**", "", str(count), *_row(mine)))
    return _INTRODUCTION.format(draws=len(draws)) + "\n" + markdown_table(heads, rows)


def _row(draws: Sequence[Draw]) -> tuple[str, ...]:
    taken = [draw for draw in draws if not draw.refused]
    much = sum(draw.true > MUCH * draw.base for draw in taken)
    return (
        str(len(draws)),
        _share(draw.true <= draw.stated for draw in draws),
        *(
            f"{100 * float(np.median([getattr(draw, name) for draw in draws])):.1f} %"
            for name in ("stated", "true", "base")
        ),
        str(len(draws) - len(taken)),
        str(sum(draw.refused and not draw.worse for draw in draws)),
        f"{sum(draw.worse for draw in taken)} ({much})",
    )


def _share(of: Iterable[bool]) -> str:
    return f"{100 * float(np.mean(list(of))):.0f} %"


def write_page(draws: Sequence[Draw]) -> Path:
    """Write the page, whole."""
    return write_whole(DOCUMENT, page(draws).encode())
