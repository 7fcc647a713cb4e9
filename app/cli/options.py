"""Arguments and options that commands share, or that would bury a command under its help."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def path(text: str | Path) -> Path:
    """Return a path; no text is not one, and as a path would mean the folder that one is in."""
    if not str(text).strip():
        raise typer.BadParameter("expected a path, found nothing (a variable that is not set?)")
    return Path(text)


def seed_option(seed: int | None) -> dict[str, str]:
    """Return what `--seed` changes, as `run_settings` does."""
    return {} if seed is None else {f"run.seed={seed}": f"--seed {seed}"}


Reference = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of a built-in one.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key; may be repeated."),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace", parser=path, metavar="FILE", help="Replay this trace instead of the workload."
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Random seed.")]
Seeds = Annotated[
    int | None, typer.Option("--seeds", metavar="N", min=1, help="Runs with seeds of their own.")
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="2%",
        help="Add runs until --metric is this precise: 8 at least, 100 (or --seeds) at most.",
    ),
]
MetricName = Annotated[
    str | None,
    typer.Option("--metric", metavar="NAME", help="What --precision is of [ttft_p99_ms]."),
]
TimelineFile = Annotated[
    Path | None,
    typer.Option(
        "--timeline",
        parser=path,
        metavar="FILE",
        help="Write queue, batch and KV over time; folders are made.",
    ),
]
TimelineBin = Annotated[
    float | None,
    typer.Option("--timeline-bin", metavar="S", help="Bins of --timeline, in seconds."),
]
TraceEventsFile = Annotated[
    Path | None,
    typer.Option(
        "--trace-events",
        parser=path,
        metavar="FILE",
        help="Write a trace for ui.perfetto.dev; folders are made.",
    ),
]
OutFolder = Annotated[
    Path | None,
    typer.Option("--out", parser=path, metavar="DIR", help="Write the results there, too."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]

Strategies = Annotated[
    str | None,
    typer.Option(
        "--strategies", metavar="A,B:VARIANT", help="Which ones; else all that it lists."
    ),
]

# Of `passes` alone.
Prompt = Annotated[
    int | None, typer.Option("--input-tokens", metavar="N", min=1, help="Of the prompt [mean].")
]
Answer = Annotated[
    int | None, typer.Option("--output-tokens", metavar="N", min=1, help="Of the answer [mean].")
]
Together = Annotated[
    int,
    typer.Option("--batch", metavar="N", min=1, help="Requests that arrive together [1]."),
]

# Of `frontier` alone.
Widths = Annotated[
    str | None,
    typer.Option("--tensor-parallel", metavar="1,2,4", help="Widths to try as well."),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Fewer loads and requests: rough, in seconds.")
]

# Of `list` alone.
Kind = Literal[
    "models", "hardware", "engines", "workloads", "scenarios", "prices", "api-prices", "quality",
    "acceptance", "denoising",
]  # fmt: skip
# Of `show` alone.
OneKind = Literal[
    "model", "hardware", "engine", "prices", "workload", "scenario", "acceptance", "quality",
    "denoising",
]  # fmt: skip
# Of `validate` alone.
Runs = Annotated[
    Path,
    typer.Argument(
        parser=path,
        metavar="RUNS",
        help="A CSV table of measured runs, or a benchmark's result file.",
    ),
]
ServedAs = Annotated[
    str | None,
    typer.Option("--scenario", metavar="S", help="The deployment that a result file lacks."),
]
TtftStatistic = Annotated[
    Literal["mean", "median"],
    typer.Option("--ttft-statistic", help="What a table's TTFT is, once for the file."),
]
WhoseSettings = Annotated[
    Literal["suite", "engine"] | None,
    typer.Option(
        "--settings",
        help="Where a table of closed loops sets nothing: as InferenceX's scripts do, for runs"
        " of its lengths, or the engine's defaults [suite].",
    ),
]

# Of `explain` alone.
MaybeReference = Annotated[
    str | None,
    typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of a built-in one."),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="MODEL", help="Compare models: give two or more of them."),
]
Hardware = Annotated[
    str | None, typer.Option("--hardware", metavar="GPU", help="Where they run [h100_sxm].")
]
Width = Annotated[
    int | None,
    typer.Option("--tensor-parallel", metavar="N", min=1, help="On how many [the fewest]."),
]
Weights = Annotated[
    str | None, typer.Option("--weights", metavar="F", help="Stored as [as published].")
]
Batch = Annotated[
    str | None,
    typer.Option("--batch", metavar="N", help="Sequences in a pass; for models 1,8,64."),
]
Context = Annotated[
    str | None,
    typer.Option("--context", metavar="N", help="KV tokens that each reads; 1000,8000."),
]
