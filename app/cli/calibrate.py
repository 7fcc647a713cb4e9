"""`paretoken calibrate`: from kernel timings and measured runs to coefficients.

Nothing heavy is imported here: `--help` has to be quick.
"""

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli import options

group = typer.Typer(help="Make the simulator yours: measure, import, fit.")
imports = typer.Typer(help="Kernel timings from elsewhere, as one checked Parquet file.")
group.add_typer(imports, name="import")

Timings = Annotated[
    Path,
    typer.Option(
        "--out", parser=options.path, metavar="FILE", help="Parquet file of timings to write."
    ),
]
Gpu = Annotated[
    str | None, typer.Option("--gpu", metavar="NAME", help="Profile that was measured.")
]


@group.command(name="collect")
def collect_command(
    *,
    out: Timings = Path("timings.parquet"),
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Time the matrices of this model."),
    ] = None,
    device: Annotated[
        Literal["cuda", "cpu"] | None, typer.Option("--device", help="[cuda where there is one]")
    ] = None,
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.05, max=600, help="Stop after so long.")
    ] = 10.0,
    gpu: Gpu = None,
    script: Annotated[
        Path | None,
        typer.Option(
            "--script",
            parser=options.path,
            metavar="FILE",
            help="Only write the collector as one file.",
        ),
    ] = None,
) -> int:
    """Time the kernels of this machine (needs torch: the extra `collect`)."""
    from app.cli.collect import collect_timings, write_script

    if script is not None:
        return write_script(script)
    return collect_timings(out, model=model, device=device, minutes=minutes, gpu=gpu)


@imports.command(name="csv")
def csv_command(
    file: Annotated[
        Path,
        typer.Argument(parser=options.path, metavar="FILE", help="The collector's CSV, or yours."),
    ],
    *,
    out: Timings = Path("timings.parquet"),
    gpu: Gpu = None,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="Whose kernels they are.")
    ] = None,
) -> int:
    """Import a CSV file with the columns of the timings schema."""
    from app.cli.collect import import_file

    return import_file(file, out, gpu=gpu, engine=engine)


@imports.command(name="vidur")
def vidur_command(
    folder: Annotated[
        Path,
        typer.Argument(parser=options.path, metavar="DIR", help="Folder of Vidur's CSV files."),
    ],
    *,
    gpu: Annotated[str, typer.Option("--gpu", metavar="NAME", help="Profile that was measured.")],
    out: Timings = Path("timings.parquet"),
) -> int:
    """Import the profiles of Vidur: mlp.csv, attention.csv, all_reduce.csv."""
    from app.cli.collect import import_vidur_folder

    return import_vidur_folder(folder, out, gpu=gpu)


@imports.command(name="aiconfigurator")
def aiconfigurator_command(
    *,
    gpu: Annotated[
        str | None, typer.Option("--gpu", metavar="NAME", help="Only this GPU's tables [all].")
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="Only this engine's [all].")
    ] = None,
    out: Timings = Path("timings.parquet"),
) -> int:
    """Import the public kernel tables (needs the extra `calibration`)."""
    from app.cli.kernels import import_public_tables

    return import_public_tables(out, gpu=gpu, engine=engine)


@group.command(name="fit")
def fit_command(
    timings: Annotated[
        Path,
        typer.Argument(
            parser=options.path, metavar="TIMINGS.parquet", help="Kernel timings: see import."
        ),
    ],
    *,
    gpu: Annotated[str, typer.Option("--gpu", metavar="NAME", help="Profile that was timed.")],
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="Whose kernels to fit.")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="FITTED",
            help="A sister GPU's fit, as the prior; beside --engine the GPU's name will do.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=options.path, metavar="FILE", help="Profile to write (YAML)."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", parser=options.path, metavar="FILE", help="Page to write (HTML)."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> int:
    """Fit a GPU's kernels on timings, and say how far off the fit is on unseen shapes."""
    from app.cli.kernels import fit_kernels

    return fit_kernels(
        timings, gpu=gpu, engine=engine, base=base, out=out, report=report, as_json=as_json
    )


@group.command(name="engine")
def engine_command(
    runs: Annotated[
        Path,
        typer.Argument(parser=options.path, metavar="RUNS.csv", help="Measured serving runs."),
    ],
    *,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="Only this one's rows.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=options.path, metavar="FILE", help="Write the preset there."),
    ] = None,
    as_json: options.AsJson = False,
) -> int:
    """Fit the host layer of an engine on measured runs, cross-validated."""
    from app.cli.calibrate_engine import fit_engine_layer

    return fit_engine_layer(runs, engine=engine, out=out, as_json=as_json)
