"""Write docs/accuracy.md: how far the predictions are from measured runs, whatever the figures.

`python -m calibration.accuracy [RUNS.csv]`; without a file, `measured/serving_runs.csv` in the
folder that PARETOKEN_SHARED names. The same table gives the same document, byte for byte.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from calibration.published import diffusion_gemma, dspark, eagle, fast_dllm
from calibration.published.check import page
from calibration.validate import Compared, ErrorTable, Validation, error_tables, validate_file
from calibration.validate.causes import CAUSES, HOST, Cause, cause_of
from sim.errors import SimError

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

**Predicted:** the shipped universal roofline (one set of coefficients for all GPUs and engines,
with 20 µs per layer and pass, 18 for TensorRT-LLM) and the preset of each engine
(`hardware_profiles/engines/`): how it reserves memory, what it batches, time on the host, how it
hands tokens out. **Nothing was fitted to these rows here.** But coefficients and the presets'
times come from an earlier prototype that saw dense runs of the same collection: this table checks
the simulator, and is no test on unseen runs.

**Replayed as driven:** a closed loop of as many users as the row says, ten prompts per user, all
users at once, lengths uniform in 80 to 100 % of the nominal ones, no request pipeline, a budget
of 8,192 tokens a pass. Where the suites' public scripts hold prompts back to batch them
(TensorRT-LLM, 1,024 in and out, fewer than eight GPUs), so does the replay. The KV cache has the
precision that the engine gives it by default: FP8 for FP8 checkpoints on TensorRT-LLM, bf16 on
vLLM and SGLang (`auto`: the data type of the model). Some runs were probably started otherwise;
the table does not say.
"""


def document(validation: Validation) -> str:
    """Return the page as Markdown."""
    tpot, ttft, *refused = error_tables(validation)
    parts = [
        _INTRODUCTION.format(rows=validation.rows, statistic=validation.ttft_statistic),
        _count(validation),
        *(_section(table) for table in (tpot, ttft)),
        _worst(validation),
        _causes(validation),
        *(_section(table) for table in refused),
    ]
    return "\n".join(parts)


def _count(validation: Validation) -> str:
    simulated, refused = len(validation.compared), len(validation.refused)
    where = ", listed below with the reason" if refused else ""
    return f"Of {validation.rows} rows {simulated} were simulated and {refused} refused{where}.\n"


def _section(table: ErrorTable) -> str:
    return f"## {table.title}\n\n{_markdown(table.columns, table.rows)}"


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _worst(validation: Validation) -> str:
    parts = []
    for name, error in (("TPOT", _tpot_size), ("TTFT", _ttft_size)):
        rows = sorted(validation.sound, key=lambda row: (-error(row), row.run.case))
        parts.append(
            f"## Worst rows by {name}\n\n"
            + _markdown(
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


_PUBLISHED: Final = (eagle, dspark, diffusion_gemma, fast_dllm)


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
    except SimError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    DOCUMENT.write_text(f"{document(validation)}\n{published_page()}", encoding="utf-8")
    sys.stdout.write(f"docs/accuracy.md: {len(validation.compared)} runs compared\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
