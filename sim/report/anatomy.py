"""The anatomy of a request in words: passes, work, time, and what the user sees when."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from sim.planning.anatomy import Anatomy
from sim.report.answer import bound_label
from sim.report.document import scenario_document
from sim.report.table import Table, columns
from sim.report.words import NOTHING, count, number, percent, time_ms
from sim.units import GIGA, MS_PER_S, TERA, counted

WIDTH: Final = 60
"""Characters of the longest timeline."""
_FILLS: Final = {"wait": "·", "prefill": "░", "decode": "█"}
_MOST_STRETCHES: Final = 8
"""Rows of a strategy; of more, the first ones and the sum of the rest are shown."""


def anatomy_answer(found: Sequence[Anatomy]) -> str:
    """Return who shows the first and the last token first, in one sentence."""
    first, whole = min(found, key=_first_s), min(found, key=lambda one: one.total_s)
    one = found[0]
    alone = "alone" if one.batch == 1 else f"as the last of {one.batch:,}"
    size = f"{counted(one.input_tokens, 'token')} in and {count(one.output_tokens)} out, {alone}"
    return (
        f"A request of {size}: {whole.entry.label} is done first, in {time_ms(whole.total_s)} and"
        f" {counted(whole.passes, 'pass', 'passes')}; {first.entry.label} shows something first,"
        f" after {time_ms(_first_s(first))}."
    )


def _first_s(one: Anatomy) -> float:
    return one.seen[0].at_s


def anatomy_tables(found: Sequence[Anatomy]) -> tuple[Table, ...]:
    """Return the passes of each strategy, and what the user sees of each."""
    return (_passes(found), _visible(found))


def _passes(found: Sequence[Anatomy]) -> Table:
    heads = columns("<strategy, part", "passes", "positions", "TFLOP", "GB moved",
                    "time", "per pass", "<bound by")  # fmt: skip
    rows = []
    for one in found:
        rows.append((one.entry.label, *[""] * 7))
        rows += [(f"· {part}", *cells) for part, *cells in (*_rows(one), _total(one))]
    note = "Of all sequences of a pass and all GPUs of a replica; a drafter's time is in the time"
    return Table("The passes of one request", heads, tuple(rows), note)


def _rows(one: Anatomy) -> list[tuple[str, ...]]:
    shown = one.stretches
    if len(shown) > _MOST_STRETCHES:
        shown = one.stretches[: _MOST_STRETCHES - 1]
    rows: list[tuple[str, ...]] = [
        (
            part.kind,
            count(part.passes),
            number(part.positions_per_pass),
            number(part.flop / TERA),
            number(part.bytes_moved / GIGA),
            time_ms(part.seconds),
            time_ms(part.seconds / part.passes),
            bound_label(part.bound),
        )
        for part in shown
    ]
    rest = one.stretches[len(shown) :]
    if rest:
        rows.append((f"{len(rest)} more", *_sum(one, len(shown)), NOTHING))
    return rows


def _sum(one: Anatomy, after: int) -> tuple[str, ...]:
    parts = one.stretches[after:]
    passes, seconds = sum(p.passes for p in parts), sum(p.seconds for p in parts)
    positions = sum(p.passes * p.positions_per_pass for p in parts)
    return (
        count(passes),
        number(positions / passes),
        number(sum(p.flop for p in parts) / TERA),
        number(sum(p.bytes_moved for p in parts) / GIGA),
        time_ms(seconds),
        time_ms(seconds / passes),
    )


def _total(one: Anatomy) -> tuple[str, ...]:
    draft = sum(part.draft_s for part in one.stretches)
    said = f"{percent(draft / one.total_s)} drafter" if draft else ""
    return ("all", *_sum(one, 0), said)


def _visible(found: Sequence[Anatomy]) -> Table:
    heads = columns("<strategy", "first seen", "tokens then", "half seen", "all seen", "chunks",
                    "longest gap")  # fmt: skip
    rows = []
    for one in found:
        times = [seen.at_s for seen in one.seen]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        half = next(s.at_s for s in one.seen if s.tokens >= one.output_tokens / 2)
        rows.append(
            (
                one.entry.label,
                time_ms(times[0]),
                number(one.seen[0].tokens),
                time_ms(half),
                time_ms(one.total_s),
                count(len(times)),
                time_ms(max(gaps)) if gaps else NOTHING,
            )
        )
    return Table("What the user sees when", heads, tuple(rows), "Times from the arrival on")


def timelines(found: Sequence[Anatomy]) -> list[str]:
    """Return a line of passes and a line of what is seen for each strategy, to one scale.

    A digit says how many tenths of the answer have been seen by then.
    """
    longest = max(one.total_s for one in found)
    per_cell = longest / WIDTH
    lines = [f"one character: {time_ms(per_cell)}; · waits  ░ prefill  █ decodes  9: tenths seen"]
    for one in found:
        bar = "".join(_cell(one, (place + 0.5) * per_cell) for place in range(WIDTH)).rstrip()
        seen = "".join(_tenths(one, (place + 1) * per_cell) for place in range(len(bar)))
        lines += ["", one.entry.label, f"  {bar}", f"  {seen}"]
    return lines


def _cell(one: Anatomy, at_s: float) -> str:
    if at_s >= one.total_s:
        return " "
    part = next(part for part in one.stretches if at_s < part.end_s)
    return _FILLS[part.kind]


def _tenths(one: Anatomy, at_s: float) -> str:
    tokens = max((seen.tokens for seen in one.seen if seen.at_s <= at_s * (1 + 1e-9)), default=0)
    if not tokens:
        return " "
    return "█" if tokens >= one.output_tokens else str(int(10 * tokens / one.output_tokens))


def anatomy_document(found: Sequence[Anatomy]) -> dict[str, Any]:
    """Return the anatomies as plain values: the JSON object."""
    one = found[0]
    return {
        "answer": anatomy_answer(found),
        "scenario": scenario_document(one.scenario),
        "input_tokens": one.input_tokens,
        "output_tokens": one.output_tokens,
        "batch": one.batch,
        "strategies": [
            {
                "strategy": each.entry.strategy,
                "label": each.entry.label,
                "passes": each.passes,
                "total_ms": each.total_s * MS_PER_S,
                "stretches": [
                    {
                        "kind": part.kind,
                        "passes": part.passes,
                        "positions_per_pass": part.positions_per_pass,
                        "flop": part.flop,
                        "bytes_moved": part.bytes_moved,
                        "begin_ms": part.begin_s * MS_PER_S,
                        "end_ms": part.end_s * MS_PER_S,
                        "draft_ms": part.draft_s * MS_PER_S,
                        "bound": part.bound,
                    }
                    for part in each.stretches
                ],
                "seen": [
                    {"at_ms": seen.at_s * MS_PER_S, "tokens": seen.tokens} for seen in each.seen
                ],
            }
            for each in found
        ],
    }
