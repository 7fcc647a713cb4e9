"""The collector's one file over a torch that only says that it has a GPU."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from calibration.collect.bundle import bundle

_FAKE = importlib.util.spec_from_file_location(
    "fake_torch", Path(__file__).parent / "fake_torch.py"
)
assert _FAKE is not None
assert _FAKE.loader is not None
_MODULE: Any = importlib.util.module_from_spec(_FAKE)
_FAKE.loader.exec_module(_MODULE)
Opened = Callable[..., ModuleType]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Opened:
    """Return a function that loads the collector's one file over a fake torch."""

    def load(fake: Any, smi: str | None = "1980") -> ModuleType:
        torch = fake.module()
        for name, module in {
            "torch": torch,
            "torch.nn": torch.nn,
            "torch.nn.functional": torch.nn.functional,
            "torch.distributed": torch.distributed,
        }.items():
            monkeypatch.setitem(sys.modules, name, module)
        path = tmp_path / "collect_alone.py"
        path.write_text(bundle(), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("collect_alone", path)
        assert spec is not None
        assert spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "collect_alone", made)

        def run(command: list[str], **_: Any) -> Any:
            if smi is None:
                raise FileNotFoundError(command[0])
            assert command[-1] == "--id=GPU-abc"
            return subprocess.CompletedProcess(command, 0, stdout=f"{smi}\n")

        monkeypatch.setattr(subprocess, "run", run)
        spec.loader.exec_module(made)
        return made

    return load


@pytest.fixture
def fakes() -> Any:
    """Return the module of the fake torch."""
    return _MODULE
