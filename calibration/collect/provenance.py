"""Where a timing comes from: device, driver, libraries, clock, date."""

import subprocess
from datetime import UTC, datetime
from typing import Any

import torch

from calibration.collect.device import Device


def provenance(device: Device) -> dict[str, Any]:
    """Return the columns that are the same for all rows of a run."""
    driver = _smi("driver_version") if device.cuda else None
    cuda = f", CUDA {torch.version.cuda}" if device.cuda else ""
    now = datetime.now(tz=UTC)
    return {
        "gpu": device.name,
        "engine": "torch",
        "engine_version": str(torch.__version__),
        "driver": driver,
        "library": f"torch {torch.__version__}{cuda}",
        "measured_on": now.date().isoformat(),
        "source": f"paretoken collector on {device.name}, {now:%Y-%m-%d}",
    }


def clock_mhz() -> float | None:
    """Return the clock of the GPU's cores now, MHz; None where the tool for it is missing."""
    found = _smi("clocks.sm")
    try:
        return None if found is None else float(found)
    except ValueError:
        return None


def _smi(query: str) -> str | None:
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", "--id=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
