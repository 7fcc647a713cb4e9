"""Mooncake traces: what is read, that blocks are kept, and that each fault names its line."""

from pathlib import Path

import numpy as np
import pytest

from sim.errors import InputError
from sim.workload import Workload, read_trace

ROWS = (
    '{"timestamp": 500, "input_length": 1100, "output_length": 7, "hash_ids": [3, 4, 5]}\n'
    '{"timestamp": 500.25, "input_length": 600, "output_length": 1, "hash_ids": [3, 9]}\n'
    "\n"
    '{"timestamp": 3500, "input_length": 10, "output_length": 2, "hash_ids": []}\n'
)


def written(folder: Path, text: str) -> Path:
    path = folder / "trace.jsonl"
    path.write_text(text)
    return path


def test_times_turn_into_seconds_and_blocks_are_kept(tmp_path: Path) -> None:
    rows = read_trace(written(tmp_path, ROWS))
    assert rows.arrival_s.tolist() == [0.0, 0.00025, 3.0]
    assert rows.input_tokens.tolist() == [1100, 600, 10]
    assert rows.output_tokens.tolist() == [7, 1, 2]
    blocks = rows.prefix_blocks
    assert blocks is not None
    assert blocks.block_tokens == 512
    assert blocks.offsets.tolist() == [0, 3, 5, 5]
    assert blocks.hashes.tolist() == [3, 4, 5, 3, 9]


def test_the_first_rows_keep_the_blocks_that_are_theirs(tmp_path: Path) -> None:
    workload = Workload.from_trace(written(tmp_path, ROWS), rate_scale=2)
    traffic = workload.draw(1, 0, limit=2)
    assert traffic.arrival_s.tolist() == [0.0, 0.000125]
    assert traffic.prefix_blocks is not None
    assert traffic.prefix_blocks.offsets.tolist() == [0, 3, 5]
    with pytest.raises(ValueError, match="read-only"):
        traffic.prefix_blocks.hashes[0] = 1


def test_a_trace_without_blocks_has_none(tmp_path: Path) -> None:
    text = '{"timestamp": 0, "input_length": 5, "output_length": 5, "extra": "x"}'
    assert read_trace(written(tmp_path, text)).prefix_blocks is None


GOOD = '{"timestamp": 9, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}\n'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{nonsense}", "line 2 is not a JSON object"),
        ("[1, 2]", "line 2 is not a JSON object"),
        ('{"timestamp": 9, "input_length": 5}', "line 2 lacks the key output_length (found time"),
        (GOOD.replace("9", "8", 1), "line 2: timestamp 8 is earlier than the row above"),
        (GOOD.replace("600", "0"), "line 2: input_length 0 is not a whole number of tokens"),
        (GOOD.replace("600", "5.5"), "line 2: input_length 5.5 is not a whole number"),
        (GOOD.replace("600", "true"), "line 2: input_length True is not a whole number"),
        (GOOD.replace("600", "NaN"), "line 2: input_length nan is not a whole number"),
        (GOOD.replace("9", '"noon"', 1), "line 2: timestamp 'noon' is not a time in ms"),
        (GOOD.replace("[1, 2]", "[1, 2, 3]"), "hash_ids should list a whole number for each 512"),
        (GOOD.replace("[1, 2]", '["a"]'), "hash_ids should list a whole number"),
        (GOOD.replace(', "hash_ids": [1, 2]', ""), "line 2: hash_ids should list"),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    path = written(tmp_path, GOOD + line)
    with pytest.raises(InputError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_conversation_trace_is_read_whole(shared_data: Path) -> None:
    rows = read_trace(shared_data / "traces" / "mooncake_conversation_trace.jsonl")
    assert len(rows) == 12_031
    assert rows.arrival_s[-1] == pytest.approx(3_536.999)
    blocks = rows.prefix_blocks
    assert blocks is not None
    # each prompt has a name for every begun block of 512 tokens
    np.testing.assert_array_equal(np.diff(blocks.offsets), -(-rows.input_tokens // 512))
    assert blocks.hashes[:3].tolist() == [0, 1, 2]
