"""Results as the tools print them, and as pages and issues quote them."""

from pathlib import Path

import pytest

from calibration.benchmarks import is_benchmark, read_file
from calibration.importers import Benchmark
from sim.errors import InputError

SGLANG = """\
Our run:

============ Serving Benchmark Result ============
Backend:                                 sglang
Traffic request rate:                    inf
Max request concurrency:                 16
Successful requests:                     80
Benchmark duration (s):                  79.47
Total input tokens:                      39,668
Total generated tokens:                  40805
Total generated tokens (retokenized):    38450
Request throughput (req/s):              1.01
Output token throughput (tok/s):         513.48     <- look
----------------End-to-End Latency----------------
Mean E2E Latency (ms):                   13376.67
---------------Time to First Token----------------
Mean TTFT (ms):                          264.84
Median TTFT (ms):                        147.02
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          26.09
==================================================
"""
VLLM = """\
# ============ Serving Benchmark Result ============
# Successful requests:                     32
# Failed requests:                         1
# Request rate configured (RPS):           0.30
# Benchmark duration (s):                  150.87
# Total input tokens:                      65536
# Total generated tokens:                  32768
# Output token throughput (tok/s):         217.20
# P99 TPOT (ms):                           72.63
"""


@pytest.fixture
def pasted(tmp_path: Path) -> Path:
    path = tmp_path / "pasted.txt"
    path.write_text(SGLANG + "then another:\n" + VLLM, encoding="utf-8")
    return path


def test_each_block_is_a_run_with_its_load_lengths_and_figures(pasted: Path) -> None:
    assert is_benchmark(pasted)
    closed, at_a_rate = read_file(pasted, "mean")
    assert isinstance(closed, Benchmark)
    assert (closed.users, closed.prompts, closed.requests_per_s) == (16, 80, None)
    assert closed.inputs.mean == pytest.approx(39668 / 80)
    assert closed.figures == pytest.approx(
        {
            "ttft_mean_ms": 264.84, "ttft_median_ms": 147.02, "tpot_mean_ms": 26.09,
            "ttlt_mean_ms": 13376.67, "output_tokens_per_s": 513.48, "requests_per_s": 1.01,
        }
    )  # fmt: skip
    assert isinstance(at_a_rate, Benchmark)
    assert (at_a_rate.requests_per_s, at_a_rate.failed, at_a_rate.users) == (0.3, 1, None)
    assert at_a_rate.figures == {"tpot_p99_ms": 72.63, "output_tokens_per_s": 217.2}


def test_a_text_without_such_a_block_is_named_as_unknown(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Mean TTFT (ms): 12\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a result file of a tool that is known"):
        read_file(path, "mean")


@pytest.mark.parametrize("wrong", ["264,84", "264.84ms", "1.264,84", "1.5k"])
def test_what_is_no_number_is_refused_and_not_cut_short(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(SGLANG.replace("264.84", wrong), encoding="utf-8")
    with pytest.raises(InputError, match="mean_ttft_ms"):
        read_file(path, "mean")
