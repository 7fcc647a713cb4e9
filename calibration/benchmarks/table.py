"""A CSV table of measured runs as pages state them, one row a run.

Needed: `input_tokens`, `output_tokens` (means) and at least one measured figure. The load is
`requests_per_s` (open loop), `concurrency` (closed loop), or neither: all `num_prompts` at once. A
figure is `ttft_ms`, `tpot_ms`, `itl_ms`, `ttlt_ms` (the mean; for TTFT what `--ttft-statistic`
says), the same with the statistic in front or behind (`median_ttft_ms`, `ttft_p99_ms`),
`output_tokens_per_s`, `total_tokens_per_s` (prompts counted, too), both also `_per_gpu`, or
`measured_requests_per_s`. Optional: `case`, `model`, `gpu` (both may come from a scenario
instead), `engine`, `weights`, `tensor_parallel`, `pipeline_parallel`, `expert_parallel`,
`attention_data_parallel`, `replicas`, `num_prompts`, `duration_s`, `burstiness`, `suspect`,
`shortest_share` (lengths are uniform from this share of the longest upwards), quantiles of the
lengths (`output_tokens_p50`, `_p90`, `_p95`, `_p99`, `_min`, `_max`), and how the server was set:
the columns of `calibration.validate.own`.
"""

from pathlib import Path
from typing import Final

from calibration.benchmarks.table_row import Line
from calibration.cells import check_shape, read_cells
from calibration.importers import Benchmark
from calibration.importers.record import LATENCIES, RATES, STATISTICS
from calibration.validate.example import example_row
from calibration.validate.replay import Statistic
from calibration.validate.runs import REQUIRED as OF_CLOSED_LOOPS
from sim.errors import InputError

REQUIRED: Final = ("input_tokens", "output_tokens")
_LOADS: Final = ("requests_per_s", "concurrency", "num_prompts")
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
    **dict.fromkeys(
        ("total_token_throughput", "total_throughput", "total_tokens_per_second"),
        "total_tokens_per_s",
    ),
    "throughput_requests_per_s": "requests_per_s",
    "measured_requests_per_s": "requests_per_s",
    "request_throughput": "requests_per_s",
    "e2el": "ttlt",
}
_OTHER_RATES: Final = (
    "total_tokens_per_s",
    "output_tokens_per_s_per_gpu",
    "total_tokens_per_s_per_gpu",
)
"""Figures that become tokens of answers per second; `Line` does it."""


def is_table_of_runs(header: list[str]) -> bool:
    """Tell whether a header is that of this table: no other reader's, with lengths and figures."""
    if set(OF_CLOSED_LOOPS) <= set(header):
        return False
    if "requests_per_s" in header and "concurrency" not in header:
        return True
    loads = set(_LOADS) & set(header)
    measured = any(figure_of(name, "mean") for name in header)
    return bool(loads) and measured and set(REQUIRED) <= set(header)


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
        Line(path, line, dict(zip(header, row, strict=True)), columns).benchmark()
        for line, row in rows
    )


def figure_of(column: str, statistic: Statistic) -> str | None:
    """Return the figure that a column holds, or None.

    >>> figure_of("p99_ttft_ms", "mean"), figure_of("itl_ms", "median"), figure_of("x", "mean")
    ('ttft_p99_ms', 'itl_mean_ms', None)
    """
    named = _ALSO.get(column, column)
    if named in RATES or named in _OTHER_RATES:
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
