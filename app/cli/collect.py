"""`paretoken calibrate collect` and `import`: kernel timings into one checked Parquet file."""

import signal
from pathlib import Path
from types import ModuleType

from app.cli.exits import ANSWER, ANSWER_IS_NO
from app.cli.output import emit
from calibration.cells import unfinished
from calibration.timings import Timings, write_timings
from calibration.timings.csv_file import export_rows, import_csv
from calibration.timings.vidur import import_vidur
from sim.errors import InputError
from sim.hardware import list_gpus, load_gpu
from sim.report.files import check_file, write_whole
from sim.units import counted


def collect_timings(
    out: Path, *, model: str | None, device: str | None, minutes: float, gpu: str | None
) -> int:
    """Time this machine's kernels and write what was measured, also after Ctrl-C."""
    check_file(out)
    name = _profile(gpu)
    collector = _collector()
    products, heads = _shapes(model)
    where = device or ("cuda" if collector.torch.cuda.is_available() else "cpu")
    if where == "cuda" and not collector.torch.cuda.is_available():
        raise InputError("torch sees no CUDA device", where="--device", remedy="use cpu")

    def keep(rows: list[dict[str, object]]) -> None:
        if rows:
            write_timings(export_rows(list(rows), name, "the collector"), out)

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        rows = collector.collect(
            where,
            minutes=minutes,
            products=products or collector.PRODUCTS,
            heads=heads or collector.HEADS,
            progress=collector.draw_bar,
            keep=keep,
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    if not rows:
        emit("Nothing was measured.\n")
        return ANSWER_IS_NO
    keep(rows)
    emit(f"{collector.report(rows)}\nWritten to {out}\n")
    return ANSWER


def _collector() -> ModuleType:
    try:
        from calibration.collect import collect
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(
            "torch is not installed",
            where="calibrate collect",
            remedy="pip install 'paretoken[collect]', or take `--script collect.py` to a machine"
            " that has it",
        ) from None
    return collect


def _shapes(
    model: str | None,
) -> tuple[tuple[tuple[int, int], ...] | None, tuple[int, int, int] | None]:
    """Return the products and heads of a model on one GPU; None where no model is named."""
    if model is None:
        return None, None
    from calibration.timings.shapes import shapes_of_model

    return shapes_of_model(model)


def write_script(path: Path) -> int:
    """Write the collector as one file that needs torch and nothing else."""
    from calibration.collect.bundle import bundle

    check_file(path)
    write_whole(path, bundle().encode())
    emit(f"Written to {path}. On the GPU machine: python {path.name} --out timings.csv\n")
    return ANSWER


def import_file(path: Path, out: Path, *, gpu: str | None, engine: str | None) -> int:
    """Import a CSV file of timings."""
    timings = import_csv(path, gpu=_profile(gpu), engine=engine)
    odd = [name for name in timings.texts("gpu") if name not in {*list_gpus(), "cpu"}]
    no_profile = f"no GPU profile is named {', '.join(odd)}: see --gpu" if odd else None
    notes = [note for note in (unfinished(path), no_profile) if note is not None]
    return _written(timings, out, "; ".join(notes) or None)


def import_vidur_folder(folder: Path, out: Path, *, gpu: str) -> int:
    """Import Vidur's profiles."""
    return _written(import_vidur(folder, gpu=load_gpu(gpu).name), out)


def _profile(gpu: str | None) -> str | None:
    """Return the name of a profile that may be given as a file; the CPU has none."""
    return gpu if gpu is None or gpu == "cpu" else load_gpu(gpu).name


def _written(timings: Timings, out: Path, note: str | None = None) -> int:
    write_timings(timings, out)
    counts = [
        f"{len(timings.where(operation=name)):,} of {name}" for name in timings.texts("operation")
    ]
    said = "" if note is None else f"Note: {note}.\n"
    emit(f"{counted(len(timings), 'kernel')}: {', '.join(counts)}\n{said}Written to {out}\n")
    return ANSWER
