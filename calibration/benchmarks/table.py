"""A CSV table of open-loop runs: `requests_per_s` in the place of `concurrency`, one row a run.

Columns: `model`, `gpu` (both may come from a scenario instead), `requests_per_s`, `input_tokens`,
`output_tokens` (means) and at least one measured figure. A figure is `ttft_ms`, `tpot_ms`,
`itl_ms`, `ttlt_ms` (the mean; for TTFT what `--ttft-statistic` says), the same with the statistic
in front or behind (`median_ttft_ms`, `ttft_p99_ms`), `output_tokens_per_s` or
`measured_requests_per_s`. Optional: `case`, `engine`, `weights`, `tensor_parallel`,
`expert_parallel`, `attention_data_parallel`, `replicas`, `num_prompts`, `duration_s`,
`burstiness`, `suspect`,
`shortest_share` (lengths are uniform from this share of the longest upwards).
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from calibration.cells import check_shape, read_cells
from calibration.importers import Benchmark, Lengths, Served
from calibration.importers.gpus import gpu_name
from calibration.importers.numbers import text
from calibration.importers.record import LATENCIES, RATES, STATISTICS
from calibration.validate.example import example_row
from calibration.validate.replay import Statistic
from calibration.validate.runs import engine_name, weights_name
from sim.errors import InputError

TOOL: Final = "table of open-loop runs"
REQUIRED: Final = ("requests_per_s", "input_tokens", "output_tokens")
_ALSO: Final = {
    "p50": "median",
    "avg": "mean",
    **dict.fromkeys(
        (
            "output_throughput",
            "output_throughput_tokens_per_s",
            "output_tokens_per_second",
            "throughput_tokens_per_s",
            "throughput_output_tokens_per_s",
            "tokens_per_s",
        ),
        "output_tokens_per_s",
    ),
    "throughput_requests_per_s": "requests_per_s",
    "measured_requests_per_s": "requests_per_s",
    "request_throughput": "requests_per_s",
    "e2el": "ttlt",
}


def is_open_loop(header: list[str]) -> bool:
    """Tell whether a header is that of this table."""
    return "requests_per_s" in header and "concurrency" not in header


def read_table(path: Path, statistic: Statistic) -> tuple[Benchmark, ...]:
    """Return the rows, or raise one sentence that names the line and the column."""
    header, rows = read_cells(path)
    missing = [f"`{name}`" for name in REQUIRED if name not in header]
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}", where=str(path))
    check_shape(path, header, rows, example=example_row(header))
    columns = {name: found for name in header if (found := figure_of(name, statistic))}
    if not columns:
        raise InputError(
            "holds no measured figure",
            where=str(path),
            remedy="add a column such as `ttft_ms`, `itl_ms` or `output_tokens_per_s`",
        )
    return tuple(
        _Line(path, line, dict(zip(header, row, strict=True)), columns).benchmark()
        for line, row in rows
    )


def figure_of(column: str, statistic: Statistic) -> str | None:
    """Return the figure that a column holds, or None.

    >>> figure_of("p99_ttft_ms", "mean"), figure_of("itl_ms", "median"), figure_of("x", "mean")
    ('ttft_p99_ms', 'itl_mean_ms', None)
    """
    named = _ALSO.get(column, column)
    if named in RATES:
        # the bare name is the rate that was offered, an input
        return None if column == "requests_per_s" else named
    words = [_ALSO.get(word, word) for word in column.split("_")]
    latency = next((word for word in words if word in LATENCIES), None)
    if latency is None or words[-1] != "ms" or len(words) > 3:
        return None
    told = next((word for word in words if word in STATISTICS), None)
    if told is None and len(words) > 2:
        return None
    return f"{latency}_{told or (statistic if latency == 'ttft' else 'mean')}_ms"


class _Line:
    """One row of text on its way to a `Benchmark`."""

    def __init__(
        self, path: Path, line: int, cells: Mapping[str, str], columns: Mapping[str, str]
    ) -> None:
        self.path, self.line, self.cells, self.columns = path, line, cells, columns

    def benchmark(self) -> Benchmark:
        rate = self._needed("requests_per_s")
        prompts, lasting_s = self._whole("num_prompts"), self._number("duration_s")
        if prompts is None and lasting_s is not None:
            prompts = max(1, round(rate * lasting_s))
        return Benchmark(
            case=self.cells.get("case") or f"line {self.line}",
            tool=TOOL,
            inputs=self._lengths("input_tokens"),
            outputs=self._lengths("output_tokens"),
            prompts=prompts,
            figures=dict(self._figures()),
            served=self._served(),
            requests_per_s=rate,
            burstiness=self._number("burstiness") or 1.0,
            suspect=self.cells.get("suspect", "").lower() in {"1", "1.0", "true"},
        )

    def _served(self) -> Served:
        engine, weights = (text(self.cells.get(name)) for name in ("engine", "weights"))
        return Served(
            model=text(self.cells.get("model")),
            gpu=gpu_name(self.cells.get("gpu"))[0],
            engine=None if engine is None else engine_name(engine),
            weights=None if weights is None else weights_name(weights),
            kv_precision=text(self.cells.get("kv_precision")),
            tensor_parallel=self._whole("tensor_parallel"),
            expert_parallel=self._whole("expert_parallel"),
            attention_data_parallel=self._whole("attention_data_parallel"),
            replicas=self._whole("replicas"),
        )

    def _figures(self) -> Iterator[tuple[str, float]]:
        found = [
            (name, value)
            for column, name in self.columns.items()
            if (value := self._number(column)) is not None
        ]
        if not found:
            raise self._fault("a measured figure", "is missing")
        yield from found

    def _lengths(self, name: str) -> Lengths:
        tokens, share = self._needed(name), self._number("shortest_share")
        if share is None:
            return Lengths(tokens)
        if share > 1:
            raise self._fault("shortest_share", f"should be at most 1, found {share:g}")
        low = max(1.0, math.floor(share * tokens))
        return Lengths((low + tokens) / 2, quantiles=((0.0, low), (1.0, tokens)))

    def _needed(self, name: str) -> float:
        value = self._number(name)
        if value is None:
            raise self._fault(name, "is empty")
        return value

    def _number(self, name: str) -> float | None:
        """A finite number above 0, or None for an empty cell or no such column."""
        cell = self.cells.get(name, "")
        if not cell:
            return None
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value <= 0:
            raise self._fault(name, f"should be a number above 0, found {cell!r}")
        return value

    def _whole(self, name: str) -> int | None:
        value = self._number(name)
        if value is not None and value != int(value):
            raise self._fault(name, f"should be a whole number, found {value:g}")
        return None if value is None else int(value)

    def _fault(self, name: str, problem: str) -> InputError:
        return InputError(f"line {self.line}: `{name}` {problem}", where=str(self.path))
