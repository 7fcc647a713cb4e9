"""CSV files as people have them: cut off, in quotes, with other separators."""

from pathlib import Path

import pytest

from calibration.cells import check_shape, named, read_cells, unfinished
from sim.errors import InputError

HEAD = "case,ttft_ms,engine\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffcase,ttft_ms,engine\na,1,vllm\n",
        "case,ttft_ms,engine\r\na,1,vllm\r\n",
        "case,ttft_ms,engine\ra,1,vllm\r",
        'case, ttft_ms ,engine\n\n"a",1 ,"vllm"\n\n',
        "case,ttft_ms,engine\na,1,vllm",
    ],
    ids=["byte order mark", "Windows", "old Mac", "spaces and quotes", "no last line break"],
)
def test_tables_of_all_programs_are_read(path: Path, content: str) -> None:
    path.write_bytes(content.encode())
    header, rows = read_cells(path)
    assert header == ["case", "ttft_ms", "engine"]
    assert [row for _, row in rows] == [["a", "1", "vllm"]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            HEAD + 'a,1,"vllm\nb,2,vllm\nc,3,vllm\n',
            "a quotation mark opens a cell and none closes",
        ),
        ('{"mean_ttft_ms": 3}\n', "this is JSON, not a CSV table"),
        (HEAD + 'a,1,"vllm"x\n', "line 2: text follows a cell that its quotes closed"),
        (HEAD.replace(",", ";") + "a;1,5;vllm\n", "its cells are separated by semicolons"),
        (HEAD.replace(",", "\t") + "a\t1\tvllm\n", "its cells are separated by tabs"),
        (HEAD + "a,1,vllm\nb,2,vl", "line 3 ends with `vl` and no line break, as `vllm` begins"),
        ("case,ttft_ms\na,1.5\nb,2.", "line 3 ends with `2.` and no line break"),
        ("case,ttft_ms\na,1.5\nb,2e-", "line 3 ends with `2e-`"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_sentence(
    path: Path, content: str, problem: str
) -> None:
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=problem) as caught:
        read_cells(path)
    assert "\n" not in str(caught.value)


def test_the_same_cells_with_a_line_break_after_them_are_whole(path: Path) -> None:
    path.write_text(HEAD + "a,1,vllm\nb,2,vl\n", encoding="utf-8")
    assert len(read_cells(path)[1]) == 2
    assert unfinished(path) is None


def test_a_number_that_begins_like_another_may_be_whole_but_is_doubted(path: Path) -> None:
    path.write_text("case,ttft_ms\na,12\nb,1", encoding="utf-8")
    assert len(read_cells(path)[1]) == 2
    assert "if it was cut off" in str(unfinished(path))


def test_a_header_in_the_middle_is_named(path: Path) -> None:
    path.write_text(HEAD + "a,1,vllm\n" + HEAD + "b,2,vllm\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3 repeats the header; remove it"):
        check_shape(path, *read_cells(path))


def test_only_the_first_names_are_listed() -> None:
    assert named([str(n) for n in range(10)]).endswith("`7` and 2 more")
