"""Read Mooncake traces: a JSON object a line, with the names of 512-token blocks of the prompt."""

import json
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from sim.errors import InputError
from sim.records import FloatArray, IntArray, PrefixBlocks

MOONCAKE: Final = ("timestamp", "input_length", "output_length")
_BLOCK_TOKENS: Final = 512
"""Of the published traces (Qin et al., 2024); a last block that is not full has a name too."""
_MS_PER_S: Final = 1e3

Columns = tuple[FloatArray, IntArray, IntArray, PrefixBlocks | None]


def read_mooncake(path: Path, text: str) -> Columns:
    """Return arrival times [s], both lengths, and the blocks where every line names them."""
    rows = [
        (number, _object(path, number, line))
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]
    times_ms = _column(path, rows, "timestamp", whole=False)
    back = np.flatnonzero(np.diff(times_ms) < 0)
    if len(back):
        number, row = rows[int(back[0]) + 1]
        problem = f"line {number}: timestamp {row['timestamp']} is earlier than the row above"
        raise InputError(problem, where=str(path), remedy="sort the rows by time")
    inputs = _column(path, rows, "input_length", whole=True).astype(np.int64)
    outputs = _column(path, rows, "output_length", whole=True).astype(np.int64)
    blocks = _blocks(path, rows, inputs) if any("hash_ids" in row for _, row in rows) else None
    return (times_ms - times_ms[0]) / _MS_PER_S, inputs, outputs, blocks


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise InputError(
            f"line {number} is not a JSON object", where=str(path), remedy="correct the line"
        )
    missing = [name for name in MOONCAKE if name not in row]
    if missing:
        found = ", ".join(row)
        raise InputError(
            f"line {number} lacks the key {', '.join(missing)} (found {found})",
            where=str(path),
            remedy=f"each line should name {', '.join(MOONCAKE)}",
        )
    return row


def _column(path: Path, rows: list[tuple[int, Any]], name: str, *, whole: bool) -> FloatArray:
    values = np.empty(len(rows))
    for place, (number, row) in enumerate(rows):
        value = row[name]
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        good = numeric and (
            1 <= value <= 1e9 and value == int(value) if whole else abs(value) < 1e15
        )
        if not good:
            what = "a whole number of tokens, 1 or more" if whole else "a time in ms"
            raise InputError(
                f"line {number}: {name} {value!r} is not {what}",
                where=str(path),
                remedy="correct or remove the line",
            )
        values[place] = value
    return values


def _blocks(path: Path, rows: list[tuple[int, Any]], inputs: IntArray) -> PrefixBlocks:
    names: list[list[int]] = []
    for (number, row), tokens in zip(rows, inputs.tolist(), strict=True):
        ids = row.get("hash_ids")
        fine = isinstance(ids, list) and all(
            type(one) is int and abs(one) < 1 << 63 for one in ids
        )
        if not fine or len(ids) > -(-tokens // _BLOCK_TOKENS):
            problem = f"should list a whole number for each {_BLOCK_TOKENS} tokens of the prompt"
            raise InputError(
                f"line {number}: hash_ids {problem}",
                where=str(path),
                remedy="correct or remove the line",
            )
        names.append(ids)
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in names])]).astype(np.int64)
    hashes = np.fromiter(chain.from_iterable(names), np.int64, int(offsets[-1]))
    return PrefixBlocks(offsets, hashes, _BLOCK_TOKENS)
