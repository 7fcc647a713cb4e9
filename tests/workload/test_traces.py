"""Traces: what is read, what is tolerated, and that each fault is one sentence with its place."""

from pathlib import Path

import numpy as np
import pytest

from sim.errors import InputError
from sim.workload import Trace, Workload, read_trace


def written(folder: Path, text: str) -> Path:
    path = folder / "trace.csv"
    path.write_bytes(text.encode())
    return path


def azure_trace(shared_data: Path, kind: str) -> Path:
    return shared_data / "traces" / f"AzureLLMInferenceTrace_{kind}_2023.csv"


def test_a_plain_trace_is_read_and_starts_at_zero(tmp_path: Path) -> None:
    rows = read_trace(
        written(tmp_path, "arrival_s,input_tokens,output_tokens\n5.5,10,20\n7,30,40\n")
    )
    assert rows.arrival_s.tolist() == [0.0, 1.5]
    assert rows.input_tokens.tolist() == [10, 30]
    assert rows.output_tokens.tolist() == [20, 40]
    assert rows.requests_per_s == pytest.approx(1 / 1.5)


def test_a_trace_may_name_the_class_of_each_request(tmp_path: Path) -> None:
    text = "class,arrival_s,input_tokens,output_tokens\ncode,0,1,1\nchat,1,1,1\n code ,2,1,1\n"
    traffic = Workload.from_trace(written(tmp_path, text)).draw(1, 0)
    assert traffic.class_names == ("code", "chat")
    assert traffic.request_class.tolist() == [0, 1, 0]
    assert read_trace(tmp_path / "trace.csv").first(2).classes.tolist() == [0, 1]


def test_times_of_a_clock_start_at_the_first_arrival_and_it_is_said(tmp_path: Path) -> None:
    header = "arrival_s,input_tokens,output_tokens\n"
    clock = written(tmp_path, f"{header}1700000000.5,1,1\n1700000002,1,1\n")
    assert read_trace(clock).arrival_s.tolist() == [0.0, 1.5]
    (said,) = Trace(path=clock).cautions()
    assert "taken from its first arrival on" in said
    assert "1700000000" in said
    plain = written(tmp_path, f"{header}86400,1,1\n86402,1,1\n")
    assert Trace(path=plain).cautions() == ()


def test_times_of_a_clock_in_milliseconds_are_refused(tmp_path: Path) -> None:
    text = "arrival_s,input_tokens,output_tokens\n1700000000500,1,1\n1700000002000,1,1\n"
    with pytest.raises(InputError, match=r"line 2: .*looks like milliseconds.*divide") as caught:
        read_trace(written(tmp_path, text))
    assert "1,000" in str(caught.value)


def test_an_azure_trace_keeps_its_tenths_of_a_microsecond(tmp_path: Path) -> None:
    text = (
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 23:59:59.9999999,374,44\n"
        "2023-11-17 00:00:04.3145659,396,109"  # no newline at the end
    )
    rows = read_trace(written(tmp_path, text))
    assert rows.arrival_s.tolist() == [0.0, 4.314566]
    assert rows.output_tokens.tolist() == [44, 109]


def test_times_with_an_offset_are_read_as_the_same_instant(tmp_path: Path) -> None:
    text = (
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2024-05-10 00:00:00.009930+00:00,1,1\n2024-05-10T02:00:01.009930+02:00,1,1\n"
    )
    assert read_trace(written(tmp_path, text)).arrival_s.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffarrival_s,input_tokens,output_tokens\n0,1,2\n1,3,4\n",
        "arrival_s,input_tokens,output_tokens\r\n0,1,2\r\n1,3,4\r\n",
        '"arrival_s","input_tokens","output_tokens"\n"0","1","2"\n"1","3","4"\n',
        "arrival_s,input_tokens,output_tokens\n0,1,2\n1,3,4\n\n\n   \n",
        "class,output_tokens, input_tokens ,arrival_s\nchat,2,1,0\ncode, 4, 3, 1\n",
        "arrival_s,input_tokens,output_tokens\n0.0,1.0,2.0\n1.0,3.0,4.0",
    ],
    ids=["bom", "crlf", "quoted", "blank lines", "order, extra column, spaces", "decimals"],
)
def test_other_ways_to_write_the_same_trace_are_tolerated(tmp_path: Path, text: str) -> None:
    rows = read_trace(written(tmp_path, text))
    columns = (rows.arrival_s, rows.input_tokens, rows.output_tokens)
    assert [column.tolist() for column in columns] == [[0, 1], [1, 3], [2, 4]]


PLAIN = "arrival_s,input_tokens,output_tokens\n"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the trace has nothing in it"),
        (PLAIN, "the trace has a header but no requests"),
        ("arrival_s,input_tokens,tokens\n0,1,1\n", "lacks the column output_tokens (found arriv"),
        (AZURE.replace("Context", "Prompt") + "x,1,1\n", "lacks the column ContextTokens"),
        (PLAIN + "0,1,1\n5,1,1\n4.5,1,1\n", "line 4: arrival_s `4.5` is earlier than the row abo"),
        (
            AZURE + "2023-11-16 18:00:01,1,1\n2023-11-16 18:00:00,1,1",
            "line 3: TIMESTAMP `2023-11-16 18:00:00` is earlier than the row above",
        ),
        (PLAIN + "0,1,1\n\n1,0,1\n", "line 4: input_tokens `0` is not a whole number of tokens"),
        (PLAIN + "0,1,-3\n", "line 2: output_tokens `-3` is not a whole number of tokens"),
        (PLAIN + "0,1,2.5\n", "line 2: output_tokens `2.5` is not a whole number of tokens"),
        (PLAIN + "0,1,1\n1,1,many\n", "line 3: output_tokens `many` is not a number"),
        (PLAIN + "0,1,1\n1,,1\n", "line 3: input_tokens `` is not a number"),
        (PLAIN + "0,1,1\nnan,1,1\n", "line 3: arrival_s `nan` is not finite"),
        (PLAIN + "0,inf,1\n", "line 2: input_tokens `inf` is not finite"),
        (PLAIN + "0,1,1\n1,1\n", "line 3 has 2 fields, the header has 3"),
        (PLAIN + "0,1,1\n1,1,1,7\n", "line 3 has 4 fields, the header has 3"),
        (
            "arrival_s,input_tokens,output_tokens,input_tokens\n0,1,1,1\n",
            "names input_tokens twice",
        ),
        (AZURE + "12.5,1,1\n", "line 2: TIMESTAMP `12.5` is not a date and time"),
        ("class," + PLAIN + "chat,0,1,1\n ,1,1,1\n", "line 3: class `` is no name"),
        (AZURE + "NaT,1,1\n", "line 2: TIMESTAMP `NaT` is no time"),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_trace(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert problem in message
    assert "\n" not in message


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: cannot read the trace \(No such file"):
        read_trace(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"cannot read the trace \(Is a directory\)"):
        read_trace(tmp_path)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00arrival", b"PK\x03\x04\xe2\x28\xa1"])
def test_a_binary_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match="the trace is not text"):
        read_trace(path)


def test_a_trace_that_changes_on_disk_is_read_again(tmp_path: Path) -> None:
    assert len(read_trace(written(tmp_path, PLAIN + "0,1,1\n"))) == 1
    assert len(read_trace(written(tmp_path, PLAIN + "0,1,1\n1,1,1\n"))) == 2


def test_the_rows_that_runs_share_cannot_be_written_to(tmp_path: Path) -> None:
    traffic = Workload.from_trace(written(tmp_path, PLAIN + "0,1,1\n1,1,1\n")).draw(1, 0)
    with pytest.raises(ValueError, match="read-only"):
        traffic.input_tokens[0] = 5


@pytest.mark.parametrize(("kind", "count"), [("code", 8_819), ("conv", 19_366)])
def test_the_azure_traces_are_replayed_whole(shared_data: Path, kind: str, count: int) -> None:
    workload = Workload.from_trace(azure_trace(shared_data, kind))
    traffic = workload.draw(requests=100, seed=0)
    assert len(traffic) == traffic.measured == count
    assert not traffic.steady_state
    assert traffic.users is None
    assert traffic.arrival_s[0] == 0
    assert np.all(np.diff(traffic.arrival_s) > 0)
    assert len(workload.draw(100, 0, limit=500)) == 500
    assert isinstance(workload.arrivals, Trace)
    twice = Workload.from_trace(workload.arrivals.path, rate_scale=2).draw(1, 0)
    np.testing.assert_allclose(twice.arrival_s * 2, traffic.arrival_s, rtol=1e-12)


def test_the_conversation_trace_has_the_times_that_its_first_and_last_line_say(
    shared_data: Path,
) -> None:
    rows = read_trace(azure_trace(shared_data, "conv"))
    # 18:15:46.6805900 to 19:14:08.4025270; second row at 18:15:50.9951690
    assert rows.arrival_s[-1] == pytest.approx(58 * 60 + 21.721937, abs=1e-7)
    assert rows.arrival_s[1] == pytest.approx(4.314579, abs=1e-9)
    assert (rows.input_tokens[-1], rows.output_tokens[-1]) == (197, 183)
