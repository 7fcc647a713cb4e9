"""`make calibrate`: the shipped profiles, made anew from the public wheel."""

import sys
from pathlib import Path
from typing import Final

from calibration.fit.document import write_profile
from calibration.fit.fit import ENGINES, Judged, Result, fit_timings
from calibration.fit.overview import write_overview
from calibration.timings.aiconfigurator import OTHER_EXPERTS, SYSTEMS, import_aiconfigurator
from sim.hardware import load_gpu
from sim.hardware.load import FITTED

AS_OF: Final = "2026-11-30"
"""When the wheel was read."""


def main(gpus: list[str]) -> int:
    """Fit each GPU under each engine and write `hardware_profiles/fitted/<gpu>__<engine>.yaml`.

    At the end docs/kernels.md is written anew.
    """
    for name in gpus or list(SYSTEMS):
        timings = import_aiconfigurator([name])
        judged: Judged = {}
        for engine in ENGINES:
            _write(fit_timings(timings, load_gpu(name), engine=engine, judged=judged))
        for engine in OTHER_EXPERTS:
            _other(name, engine)
    write_overview()
    return 0


def _other(gpu: str, engine: str) -> None:
    """Fit kernels that an engine does not take by itself, where the wheel has them."""
    timings = import_aiconfigurator([gpu], [engine]).where(engine=engine)
    if len(timings):
        _write(fit_timings(timings, load_gpu(gpu), engine=engine))


def _write(result: Result) -> None:
    path: Path = FITTED / f"{result.gpu.name}__{result.engine}.yaml"
    write_profile(result, path, as_of=AS_OF)
    said = ", ".join(
        f"{each.part} {each.evidence.held_out['all']:.1%}"
        f" ({each.evidence.held_out_again or 0:.1%})"
        for each in result.accepted
    )
    sys.stdout.write(f"{path.name} ({path.stat().st_size / 1e3:.0f} kB): {said}\n")
    for refusal in result.refusals:
        sys.stdout.write(f"  refused: {refusal}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
