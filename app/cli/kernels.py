"""`paretoken calibrate import aiconfigurator` and `fit`: kernel timings into a fitted profile."""

from pathlib import Path

from app.cli.exits import ANSWER
from app.cli.output import emit, emit_json, waiting
from app.cli.page import Page
from calibration.fit import Result, fit_timings, to_document, write_profile, write_report
from calibration.fit.document import stated_error
from calibration.timings import read_timings, write_timings
from sim.hardware import list_gpus, load_fitted_named, load_gpu
from sim.hardware.evidence import Evidence
from sim.report.files import check_file
from sim.report.table import Column, Table
from sim.report.words import percent
from sim.units import counted


def import_public_tables(out: Path, *, gpu: str | None, engine: str | None) -> int:
    """Read the installed wheel's tables of a GPU and engine, or of all, into one file."""
    from calibration.timings.aiconfigurator import import_aiconfigurator

    check_file(out)
    with waiting("Reading the public kernel tables"):
        timings = import_aiconfigurator(
            [gpu] if gpu is not None else [], [engine] if engine is not None else []
        )
        write_timings(timings, out)
    counts = [
        f"{len(timings.where(operation=name)):,} of {name}" for name in timings.texts("operation")
    ]
    emit(f"{counted(len(timings), 'kernel')}: {', '.join(counts)}\nWritten to {out}\n")
    return ANSWER


def fit_kernels(
    timings: Path,
    *,
    gpu: str,
    engine: str | None,
    base: str | None,
    out: Path | None,
    report: Path | None,
    as_json: bool,
) -> int:
    """Fit a profile, write it with its report, and print how far off it was on held-out shapes."""
    for written in (out, report):
        if written is not None:
            check_file(written)
    profile = load_gpu(gpu)
    if base in list_gpus() and engine is not None:
        base = f"{base}__{engine}"
    sister = None if base is None else load_fitted_named(base)
    rows = read_timings(timings)
    with waiting("Fitting"):
        result = fit_timings(rows, profile, engine=engine, base=sister, base_name=base)
    path = out or _place(f"{profile.name}__{result.engine}.yaml")
    write_profile(result, path)
    page = write_report(result, report or path.with_suffix(".html"))
    if as_json:
        emit_json(to_document(result))
        return ANSWER
    _show(result, path, page)
    return ANSWER


def _place(name: str) -> Path:
    """Return where a profile goes: beside the shipped ones in a checkout, else here."""
    shipped = Path("hardware_profiles") / "fitted"
    return shipped / name if shipped.is_dir() else Path(name)


def _known(evidence: Evidence) -> str:
    """Return the held-out error, and where timings are few how high it may really be."""
    said = percent(evidence.held_out["all"])
    few = evidence.held_out_spread is not None
    return f"{said}, up to {percent(stated_error(evidence))}" if few else said


def _show(result: Result, path: Path, report: Path) -> None:
    page = Page()
    count = sum(accepted.evidence.points for accepted in result.accepted)
    kernels = f"{counted(len(result.accepted), 'kernel')} of {result.gpu.name}"
    lead = f"{kernels} fitted on {counted(count, 'timing')}."
    page.line(lead, style="bold")
    rows = tuple(
        (
            accepted.part,
            f"{evidence.points:,}",
            _known(evidence),
            "" if evidence.held_out_again is None else percent(evidence.held_out_again),
            "" if evidence.form_alone is None else percent(evidence.form_alone),
            "; ".join(
                f"{name} {percent(error)}"
                for name, error in evidence.held_out.items()
                if name != "all"
            ),
        )
        for accepted in result.accepted
        for evidence in (accepted.evidence,)
    )
    columns = (
        Column("kernel", "left"),
        Column("timings", "right"),
        Column("held-out error", "right"),
        Column("second split", "right"),
        Column("form alone", "right"),
        Column("by regime", "left"),
    )
    page.table(Table("Mean absolute error of shapes that were held out", columns, rows))
    for refusal in result.refusals:
        page.line(f"Refused: {refusal}.")
    page.line()
    page.line(f"Written to {path} and {report}")
    page.line(f"To use it in a scenario: fitted: {path}")
    page.line(
        "There the kernels of this table replace the shipped ones; all others stay as shipped, and"
        " `provenance` says which is which."
    )
    page.show()
