"""From the installed wheel to timings: which tables are read, and what is left out of them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from calibration.timings.aiconfigurator.collectives import all_reduces, nccl
from calibration.timings.aiconfigurator.kernels import attention, experts, gemms, latent
from calibration.timings.aiconfigurator.other_experts import OTHER_EXPERTS, other_experts
from calibration.timings.aiconfigurator.wheel import ENGINES, SYSTEMS, systems_folder
from calibration.timings.table import Timings, checked, kernel_keys
from sim.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    import pyarrow as pa

SOURCE: Final = "aiconfigurator-core 0.12.0"


def import_aiconfigurator(gpus: Sequence[str] = (), engines: Sequence[str] = ()) -> Timings:
    """Return the wheel's timings of some GPUs and engines; of all where none are named.

    A GPU goes by the name of its hardware profile, or by the wheel's own. NCCL's collectives
    come with every engine; kernels that an engine does not take by itself (`OTHER_EXPERTS`) only
    where they are named.
    """
    systems_folder()
    chosen = [_profile_name(gpu) for gpu in gpus] or list(SYSTEMS)
    for engine in engines:
        if engine not in {*ENGINES, *OTHER_EXPERTS}:
            raise UnknownNameError("engine", engine, ENGINES)
    tables = [
        table
        for gpu in chosen
        for table in _tables(gpu, list(engines) or list(ENGINES))
        if table.num_rows
    ]
    if not tables:
        raise InputError(f"{SOURCE} has no tables of {', '.join(chosen)}")
    import pyarrow as pa

    return checked(_one_of_each(pa.concat_tables(tables)), SOURCE)


def _profile_name(gpu: str) -> str:
    own = {system: name for name, system in SYSTEMS.items()}
    if gpu not in SYSTEMS and gpu not in own:
        raise UnknownNameError("GPU in the public tables", gpu, SYSTEMS)
    return own.get(gpu, gpu)


def _tables(gpu: str, engines: Sequence[str]) -> Iterator["pa.Table"]:
    system = SYSTEMS[gpu]
    for engine in engines:
        if engine in OTHER_EXPERTS:
            yield from other_experts(system, gpu, engine)
            continue
        for read in (gemms, attention, latent, experts, all_reduces):
            yield from read(system, gpu, engine)
    yield from nccl(system, gpu)


def _one_of_each(table: "pa.Table") -> "pa.Table":
    """Return the quickest row of each kernel: some shapes were timed under several names."""
    latency = table["latency_s"].to_numpy()
    order = np.argsort(latency, kind="stable")
    _, first = np.unique(kernel_keys(table)[order], return_index=True)
    return table.take(np.sort(order[first]))
