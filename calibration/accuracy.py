"""Write docs/accuracy.md: how far the predictions are from measured runs, whatever the figures.

`python -m calibration.accuracy [RUNS.csv]`; without a file, `measured/serving_runs.csv` in the
folder that PARETOKEN_SHARED names. The same table gives the same document, byte for byte.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from calibration.doubts import DOUBTS
from calibration.engine.cross import Cross, cross_validate
from calibration.markdown import markdown_table
from calibration.published import diffusion_gemma, dspark, dspark_costs, eagle, fast_dllm
from calibration.published.check import page
from calibration.validate import Compared, ErrorTable, Validation, error_tables, validate_file
from calibration.validate.causes import CAUSES, HOST, Cause, cause_of
from calibration.validate.errors import ErrorStats
from calibration.validate.runs import read_runs
from calibration.validate.validation import group_errors
from sim.errors import SimError
from sim.model import Experts, load_model

ROOT: Final = Path(__file__).resolve().parents[1]
DOCUMENT: Final = ROOT / "docs" / "accuracy.md"
WORST_ROWS: Final = 12

_INTRODUCTION: Final = """\
# Accuracy

How far the simulator is from {rows} measured serving runs, written by `make accuracy`. An error
is (predicted − measured) / measured; mean, median and p90 are of its size, bias is the median
with its sign (below zero: the prediction is too fast). TTFT is read as the {statistic} over
requests, once for the whole table.

**Measured:** part of `silicon_sample.csv` in the PyPI wheel aiconfigurator-core 0.12.0
(Apache-2.0): closed loops on H100, H200 and B200 with vLLM, SGLang and TensorRT-LLM. Repeats of
one setting differ by 21 % of TPOT at the 90th percentile: that is the floor of p90.

**Predicted:** the kernel fits of each GPU and engine (`hardware_profiles/fitted/`, from tables of
kernels in the same wheel) and the preset of each engine (`hardware_profiles/engines/`): how it
reserves memory, what it batches, time on the host, small kernels, how it hands tokens out. The
handful of times in a preset, the same for all models and GPUs, was chosen on these rows and on
figures of an earlier prototype that saw rows of the same collection; cross-validation
(`paretoken calibrate engine`) says how far that carries to a model or a GPU left out.

**Replayed as driven:** a closed loop of as many users as the row says, ten prompts per user, all
users at once, lengths uniform in 80 to 100 % of the nominal ones, no request pipeline. Lengths
that InferenceX does not sweep are means (genai-perf, AIPerf), 10 % either way. What the suites'
public server scripts set (github.com/SemiAnalysisAI/InferenceX; for SGLang off that suite the
generator of github.com/ai-dynamo/aiconfigurator) is set here too: token
budgets, precision of the KV cache, how long prompts are held back, how often an engine looks for
new ones, spread of experts, tokens drafted (`calibration/validate/recipes/`, with commits).
Where a script changed, a row goes by its date and by what was swept when. Where they say nothing,
the engine's default holds: an FP8 cache for FP8 checkpoints on TensorRT-LLM, bf16 elsewhere.
Engines of the runs are older than the kernels of the tables.

Published runs of other models, GPUs and versions, which nothing was chosen on, are in
[blind.md](blind.md).
"""


def document(validation: Validation, crossed: Sequence[Cross] = ()) -> str:
    """Return the page as Markdown."""
    tpot, ttft, *refused = error_tables(validation)
    parts = [
        _INTRODUCTION.format(rows=validation.rows, statistic=validation.ttft_statistic),
        _count(validation),
        *(_section(table) for table in (tpot, ttft)),
        _family(validation),
        *([_cross(crossed)] if crossed else []),
        _worst(validation),
        _causes(validation),
        DOUBTS,
        *(_section(table) for table in refused),
    ]
    return "\n".join(parts)


def _count(validation: Validation) -> str:
    simulated, refused = len(validation.compared), len(validation.refused)
    where = ", listed below with the reason" if refused else ""
    return f"Of {validation.rows} rows {simulated} were simulated and {refused} refused{where}.\n"


def _section(table: ErrorTable) -> str:
    return f"## {table.title}\n\n{markdown_table(table.columns, table.rows)}"


def _family(validation: Validation) -> str:
    """Tabulate errors by engine, dense models apart from those with experts."""
    rows = []
    for engine in sorted({row.run.engine for row in validation.sound}):
        for kind, sparse in (("dense", False), ("experts", True)):
            mine = [
                row
                for row in validation.sound
                if row.run.engine == engine and _has_experts(row.run.model) == sparse
            ]
            if mine:
                errors = group_errors(mine)
                cells = (*_two(errors.tpot), *_two(errors.ttft))
                rows.append((f"{engine}, {kind}", str(len(mine)), *cells))
    names = ("TPOT median", "TPOT p90", "TTFT median", "TTFT p90")
    return "## By engine and kind of model\n\n" + markdown_table(("rows", "n", *names), rows)


def _two(stats: ErrorStats) -> tuple[str, str]:
    return _percent(stats.median_ape), _percent(stats.p90_ape)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _has_experts(name: str) -> bool:
    layers = (group.layer.mlp for group in load_model(name).groups)
    return any(isinstance(mlp, Experts) for mlp in layers)


def _cross(crossed: Sequence[Cross]) -> str:
    rows = []
    for one in crossed:
        for axis, found in (("model", one.by_model), ("GPU", one.by_gpu)):
            rows += [
                (
                    *(one.engine, f"{axis} {left.group}", str(left.tpot.n)),
                    *_two(left.tpot),
                    *_two(left.ttft),
                )
                for left in found
            ]
    names = ("TPOT median", "TPOT p90", "TTFT median", "TTFT p90")
    return (
        "## Cross-validation\n\nEach engine's times fitted anew without a model, or without a GPU,"
        " and judged on it: up to\n90 rows an engine, of 64 users at most. An engine that has runs"
        " of one model or one GPU alone has\nno such row.\n\n"
        + markdown_table(("engine", "left out", "n", *names), rows)
        + "\nMean error of TPOT over the models left out, which each preset states as its own: "
        + ", ".join(f"{one.engine} {_percent(one.model_error)}" for one in crossed)
        + ".\n"
    )


def _worst(validation: Validation) -> str:
    parts = []
    for name, error in (("TPOT", _tpot_size), ("TTFT", _ttft_size)):
        rows = sorted(validation.sound, key=lambda row: (-error(row), row.run.case))
        parts.append(
            f"## Worst rows by {name}\n\n"
            + markdown_table(
                ("case", "engine", "GPUs", "users", "in/out", "TPOT ms", "TTFT ms", "cause"),
                [_worst_row(row) for row in rows[:WORST_ROWS]],
            )
        )
    return "\n".join(parts)


def _tpot_size(row: Compared) -> float:
    return abs(row.tpot_error or 0.0)


def _ttft_size(row: Compared) -> float:
    return abs(row.ttft_error)


def _worst_row(row: Compared) -> tuple[str, ...]:
    run, predicted = row.run, row.predicted
    return (
        run.case,
        run.engine,
        f"{run.tensor_parallel} × {run.gpu}",
        str(run.concurrency),
        f"{run.input_tokens}/{run.output_tokens}",
        _beside(predicted.tpot_ms, run.tpot_ms, row.tpot_error),
        _beside(predicted.ttft_ms, run.ttft_ms, row.ttft_error),
        cause_of(run, predicted).name,
    )


def _beside(predicted: float | None, measured: float | None, error: float | None) -> str:
    if predicted is None or measured is None or error is None:
        return "–"
    return f"{predicted:.4g} for {measured:.4g} ({error:+.0%})"


def _causes(validation: Validation) -> str:
    """List the causes with how many rows show their signs; a reading, not a proof."""
    found = [cause_of(row.run, row.predicted) for row in validation.sound]
    lines = [_cause_line(cause, found.count(cause)) for cause in (*CAUSES, HOST)]
    return (
        "## Causes\n\nBy the signs that a row shows; the first that fits is named.\n\n"
        + "".join(lines)
    )


def _cause_line(cause: Cause, rows: int) -> str:
    return f"- **{cause.name}** ({rows} row{'' if rows == 1 else 's'}): {cause.text}\n"


_PUBLISHED: Final = (eagle, dspark, dspark_costs, diffusion_gemma, fast_dllm)


def published_page() -> str:
    """Return the part about published measurements of decoding strategies."""
    return page([module.compare() for module in _PUBLISHED])


def default_runs() -> Path:
    """Return where the measured runs lie beside a checkout."""
    shared = os.environ.get("PARETOKEN_SHARED")
    folder = Path(shared) if shared else ROOT.parent / "shared" / "data"
    return folder / "measured" / "serving_runs.csv"


def main(arguments: Sequence[str]) -> int:
    """Write the document; return the exit code."""
    path = Path(arguments[0]) if arguments else default_runs()
    try:
        validation = validate_file(path)
        crossed = cross_validate(read_runs(path))
    except SimError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    DOCUMENT.write_text(f"{document(validation, crossed)}\n{published_page()}", encoding="utf-8")
    sys.stdout.write(f"docs/accuracy.md: {len(validation.compared)} runs compared\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
