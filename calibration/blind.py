"""Write docs/blind.md: published runs that nothing was fitted on, beside the predictions.

`python -m calibration.blind [RUNS.csv]`; without a file, the table in tests/truth. The same table
gives the same document, byte for byte.
"""

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from calibration.benchmarks import BenchmarkValidation, validate_benchmark
from calibration.benchmarks.result import Beside
from calibration.blind_causes import CAUSES, OTHER, causes_of
from calibration.markdown import markdown_table
from calibration.validate.errors import ErrorStats, error_stats
from sim.errors import SimError
from sim.model import Experts, load_model
from sim.units import counted

ROOT: Final = Path(__file__).resolve().parents[1]
RUNS: Final = ROOT / "tests" / "truth" / "published_runs.csv"
SOURCES: Final = ROOT / "tests" / "truth" / "published_sources.csv"
DOCUMENT: Final = ROOT / "docs" / "blind.md"
WORST: Final = 0.3
"""Errors beyond this have a cause named."""
QUANTITIES: Final = ("tpot", "ttft", "output_tokens_per_s")
_HEADS: Final = ("TPOT", "TTFT", "throughput")

_INTRODUCTION: Final = """\
# Published runs that nothing was fitted on

{runs} runs from {sources} public pages, simulated as the pages state them (`make blind`). No
coefficient or time of the simulator was fitted to any of them. Which runs are here was decided by
how complete the page's facts are, before any was simulated, and none was left out afterwards;
those that go wrong stand below with the reason, where one was found. At the first simulation,
before what the next paragraph lists, median and p90 were 26 and 58 % of TPOT, 44 and 129 of TTFT,
23 and 173 of throughput (without the runs that were refused).

What the test did change, so that it is no longer blind in this: names of checkpoints that the
catalog did not know, labels of engines and formats, tables with a throughput alone (per GPU, or of
all tokens), loads without a rate or a limit, lengths by quantiles, how many sequences an engine
runs at once when nothing says it, eager mode with one user, and which kernels stand for SGLang's
MXFP4 experts on Hopper (a third as fast as those it runs). Before that {refused_then} of the runs
were refused, and those with all requests at once ran 256 of them.

An error is (predicted − measured) / measured; median and p90 are of its size, bias is the median
with its sign (TPOT and TTFT below zero: too fast; throughput below zero: too slow). TPOT is the
mean, TTFT the median of the requests (means hold compilation in two runs, and caches in others);
both stand in few pages. The simulator is told what a page says (`tests/truth/published_runs.csv`)
and no more; what it does not say is the engine's default.
"""
REFUSED_AT_FIRST: Final = 25
"""Of the table's runs, by their model's name; the table as a whole could not be read."""


def document(validation: BenchmarkValidation, table: Path, sources: Path) -> str:
    """Return the page as Markdown."""
    unstated = {row["case"]: row.get("unstated", "") for row in _rows(table)}
    pages = list(_rows(sources))
    rows = validation.compared
    parts = [
        _INTRODUCTION.format(
            runs=validation.rows, sources=len(pages), refused_then=REFUSED_AT_FIRST
        ),
        f"{len(rows)} runs were simulated and {len(validation.refused)} refused.\n",
        "## Errors\n\n" + _errors(rows),
        "## What the pages do not state\n\n" + _unstated(tuple(unstated.values())),
        "## Off by more than 30 %\n\n" + _causes(rows),
        "## All runs\n\n" + _all(rows),
        "## Sources\n\n" + _sources(pages, rows),
    ]
    return "\n".join(parts)


def _rows(path: Path) -> Iterator[Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _errors(rows: Sequence[Beside]) -> str:
    names = ("rows", "n", *(f"{name} {what}" for name in _HEADS for what in ("median", "p90")))
    axes: tuple[Callable[[Beside], str], ...] = (
        lambda _: "all",
        lambda row: _part(row, "trtllm-docs", "TensorRT-LLM's own tables", "all other pages"),
        lambda row: _part(row, "lambda", "vLLM before its engine V1", "engines of today"),
        lambda row: row.predicted.gpu,
        lambda row: row.predicted.engine,
        lambda row: "experts" if _has_experts(row.predicted.model) else "dense",
        lambda row: f"weights: {row.benchmark.served.weights}",
        lambda row: "at once" if row.benchmark.at_once else _load(row),
    )
    found: list[tuple[str, ...]] = []
    for axis in axes:
        groups: dict[str, list[Beside]] = {}
        for row in rows:
            groups.setdefault(axis(row), []).append(row)
        found += [(name, str(len(mine)), *_six(mine)) for name, mine in sorted(groups.items())]
    biases = ", ".join(
        f"{head} {_signed(_stats(rows, name).median_bias)}"
        for head, name in zip(_HEADS, QUANTITIES, strict=True)
    )
    return markdown_table(names, found) + f"\nBias: {biases}.\n"


def _part(row: Beside, source: str, name: str, other: str) -> str:
    return name if row.benchmark.case.startswith(source) else other


def _load(row: Beside) -> str:
    users = row.predicted.users or 0
    return next(name for most, name in ((8, "1-8 users"), (32, "9-32 users"),
                                        (10**9, "33+ users")) if users <= most)  # fmt: skip


def _has_experts(model: str) -> bool:
    return any(isinstance(group.layer.mlp, Experts) for group in load_model(model).groups)


def _stats(rows: Sequence[Beside], quantity: str) -> ErrorStats:
    return error_stats(row.error_of(quantity, "median") for row in rows)


def _six(rows: Sequence[Beside]) -> Iterator[str]:
    for quantity in QUANTITIES:
        stats = _stats(rows, quantity)
        yield _percent(stats.median_ape)
        yield _percent(stats.p90_ape)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _signed(share: float | None) -> str:
    return "–" if share is None else f"{share:+.0%}"


def _unstated(cells: Sequence[str]) -> str:
    found = Counter(
        word for cell in cells for word in (part.strip() for part in cell.split(";")) if word
    )
    rows = [(what, str(count)) for what, count in sorted(found.items(), key=_most_first)]
    return markdown_table(("not stated", "runs"), rows)


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return (-item[1], item[0])


def _worst(row: Beside) -> float:
    sizes = [abs(row.error_of(name, "median") or 0.0) for name in QUANTITIES]
    return max(sizes)


def _causes(rows: Sequence[Beside]) -> str:
    bad = [row for row in rows if _worst(row) > WORST]
    counts = Counter(cause.name for row in bad for cause in causes_of(row.benchmark.case))
    lines = [
        f"- **{cause.name}** ({counted(counts[cause.name], 'run')}): {cause.text}"
        for cause in (*CAUSES, OTHER)
        if counts[cause.name]
    ]
    return (
        f"{len(bad)} of {len(rows)} runs are off by more than 30 % in one of the three figures."
        " What was found, run by run in the table below:\n\n" + "\n".join(lines) + "\n"
    )


def line_of(row: Beside) -> tuple[str, ...]:
    """Return a run as it stands in the table of all runs."""
    run, served = row.benchmark, row.benchmark.served
    load = counted(run.users, "user") if run.users else f"{run.prompts} at once"
    causes = causes_of(run.case) if _worst(row) > WORST else ()
    return (
        run.case,
        row.predicted.model.rsplit("/", 1)[-1],
        f"{served.gpus} × {row.predicted.gpu}",
        str(served.weights),
        f"{run.inputs.mean:.0f}/{run.outputs.mean:.0f}",
        load,
        *(_beside(row, name) for name in QUANTITIES),
        ", ".join(cause.name for cause in causes),
    )


def _beside(row: Beside, quantity: str) -> str:
    """Say predicted for measured, and the error."""
    error = row.error_of(quantity, "median")
    if error is None:
        return ""
    named = (f"{quantity}_median_ms", f"{quantity}_mean_ms")
    names = (quantity, *(named if quantity == "ttft" else named[::-1]))
    name = next(one for one in names if one in row.errors)
    predicted, measured = row.predicted.figures[name], row.benchmark.figures[name]
    return f"{predicted:,.4g} for {measured:,.4g} ({error:+.0%})"


def _all(rows: Sequence[Beside]) -> str:
    names = (
        "case",
        "model",
        "GPUs",
        "weights",
        "in/out",
        "load",
        "TPOT ms",
        "TTFT ms",
        "tokens/s",
    )
    return markdown_table((*names, "cause"), [line_of(row) for row in rows])


def _sources(pages: Sequence[Mapping[str, str]], rows: Sequence[Beside]) -> str:
    counts = Counter(row.benchmark.case.rpartition("-")[0] for row in rows)
    return markdown_table(
        ("source", "runs", "version or date", "what"),
        [
            (
                f"[{page['source']}]({page['where']})",
                str(counts[page["source"]]),
                page["version"],
                page["what"],
            )
            for page in pages
        ],
    )


def main(arguments: Sequence[str]) -> int:
    """Write the page; return the exit code."""
    table = Path(arguments[0]) if arguments else RUNS
    try:
        validation = validate_benchmark(table)
    except SimError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    DOCUMENT.write_text(document(validation, table, SOURCES), encoding="utf-8")
    sys.stdout.write(f"wrote {DOCUMENT}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
