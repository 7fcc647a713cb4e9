"""Where a timing comes from: device, driver, libraries, clock, date."""

import subprocess
from datetime import datetime, timezone
from typing import Any

import torch

from calibration.collect.device import Device


def provenance(device: Device) -> dict[str, Any]:
    """Return the columns that are the same for all rows of a run."""
    driver = _smi("driver_version", device.uuid) if device.cuda else None
    cuda, hip = torch.version.cuda, getattr(torch.version, "hip", None)
    below = f", CUDA {cuda}" if cuda else f", ROCm {hip}"
    below = below if device.cuda else ""
    now = datetime.now(tz=timezone.utc)  # noqa: UP017  # Python 3.10 has no UTC
    return {
        "gpu": device.name,
        "engine": "torch",
        "engine_version": str(torch.__version__),
        "driver": driver,
        "library": f"torch {torch.__version__}{below}",
        "measured_on": now.date().isoformat(),
        "source": f"paretoken collector on {device.name}, {now:%Y-%m-%d}",
    }


def clock_mhz(device: Device) -> float | None:
    """Return the clock of the GPU's cores now, MHz; None where the tool for it is missing."""
    found = _smi("clocks.sm", device.uuid)
    try:
        return None if found is None else float(found)
    except ValueError:
        return None


_SILENT: set[str] = set()
"""What nvidia-smi did not answer once: it is not asked again, for each time may take seconds."""


def _smi(query: str, uuid: str | None) -> str | None:
    """Ask about one GPU by its UUID: torch's first is not nvidia-smi's where some are hidden."""
    if query in _SILENT:
        return None
    which = "0" if uuid is None else uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(  # noqa: S603
            [*command, f"--id={which}"], capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        _SILENT.add(query)
        return None
    return done.stdout.strip() or None
