"""The union of the formats: one file a tool; a new one is a module and a line here."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from calibration.importers import aiperf, guidellm, llmperf, sglang, vllm
from calibration.importers.files import Document, documents, read_text
from calibration.importers.record import Benchmark, Read, Unusable
from sim.errors import InputError

FORMATS: Final = (sglang, vllm, guidellm, aiperf, llmperf)
"""In this order: SGLang's file has the keys of vLLM's, and more."""


def read_benchmark(path: Path) -> tuple[Read, ...]:
    """Return the runs of a benchmark's result file, also those that measured nothing.

    Raises `InputError` for a file of another kind, and for one without any usable measurement.
    """
    content = read_text(path)
    if not content.strip():
        raise InputError("the file is empty", where=str(path))
    if is_table(content):
        found: list[Read] = [aiperf.read(aiperf.document_of(content), path.stem)]
    else:
        found = list(_runs(documents(content, path), path))
    if not any(isinstance(run, Benchmark) for run in found):
        reasons = "; ".join(
            dict.fromkeys(run.reason for run in found if isinstance(run, Unusable))
        )
        raise InputError(f"holds no usable measurement: {reasons}", where=str(path))
    return tuple(found)


def is_table(content: str) -> bool:
    """Tell whether this is AIPerf's CSV."""
    return aiperf.recognises_table(content.splitlines()[0].split(","))


def _runs(found: Iterable[Document], path: Path) -> Iterable[Read]:
    listed = list(found)
    for place, document in enumerate(listed, 1):
        case = path.stem if len(listed) == 1 else f"{path.stem} #{place}"
        if sglang.recognises(document):
            yield sglang.read(document, case)
        elif vllm.recognises(document):
            yield vllm.read(document, case)
        elif guidellm.recognises(document):
            yield from guidellm.read_all(document, case)
        elif aiperf.recognises(document):
            yield aiperf.read(document, case)
        elif llmperf.recognises(document):
            yield from llmperf.read_all(document, case)
        else:
            raise unknown_format(path)


def unknown_format(path: Path) -> InputError:
    """Return the error for a file that no importer knows."""
    known = "; ".join(module.NAME for module in FORMATS)
    return InputError(
        "not a result file of a tool that is known here",
        where=str(path),
        remedy=f"known: {known}; or a CSV table of measured runs",
    )
