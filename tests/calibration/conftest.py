"""A table of measured runs made by hand: small, fast to simulate, and wrong on demand."""

from collections.abc import Callable
from pathlib import Path

import pytest

HEADER = (
    "case,model,gpu,engine,weights,tensor_parallel,expert_parallel,attention_data_parallel,"
    "concurrency,input_tokens,output_tokens,measured_on,suspect,ttft_ms,tpot_ms"
)
GOOD = "a,llama-3.1-8b,h100_sxm,vllm,bf16,1,1,1,2,128,16,2026-01-01,0,10,5"
RunsFile = Callable[..., Path]


@pytest.fixture
def runs_file(tmp_path: Path) -> RunsFile:
    """Write rows under the usual header (or another) and return the file."""

    def write(*rows: str, header: str = HEADER) -> Path:
        path = tmp_path / "runs.csv"
        path.write_text("\n".join([header, *(rows or (GOOD,))]) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def row() -> Callable[..., str]:
    """Return a good row with some of its cells replaced."""

    def build(**cells: object) -> str:
        values = dict(zip(HEADER.split(","), GOOD.split(","), strict=True))
        assert cells.keys() <= values.keys()
        return ",".join(str((values | cells)[name]) for name in values)

    return build
