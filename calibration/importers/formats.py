"""The union of the formats: one file a tool; a new one is a module and a line here."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from calibration.cells import check_shape, header_in, named, read_cells
from calibration.importers import (
    aiperf,
    guidellm,
    inference_perf,
    inferencex,
    llmperf,
    printed,
    sglang,
    trtllm_bench,
    vllm,
)
from calibration.importers.files import Document, documents
from calibration.importers.record import Benchmark, Read, Unusable
from calibration.importers.strangers import stranger
from sim.errors import InputError
from sim.yaml_files import read_text

FORMATS: Final = (
    sglang,
    vllm,
    guidellm,
    aiperf,
    llmperf,
    trtllm_bench,
    inference_perf,
    inferencex,
)
"""In this order: SGLang's file has the keys of vLLM's, and more."""


_WANTED: Final = (
    "give a benchmark's result file, or a CSV table with a row a run: case, model, gpu, engine,"
    " weights, tensor_parallel, expert_parallel, attention_data_parallel, concurrency,"
    " input_tokens, output_tokens, ttft_ms, tpot_ms; such as"
    " run-1,llama-3.1-8b,h100_sxm,vllm,fp8,1,1,1,16,1024,256,85.2,7.9 (docs/calibration.md)"
)
"""The columns are those of `calibration.validate.runs`, which reads the importers."""


def read_benchmark(path: Path) -> tuple[Read, ...]:
    """Return the runs of a benchmark's result file, also those that measured nothing.

    Raises `InputError` for a file of another kind, and for one without any usable measurement.
    """
    content = read_text(path)
    if not content.strip():
        raise InputError("the file is empty", where=str(path), remedy=_WANTED)
    header = header_in(content) or ()
    if printed.recognises_text(content):
        found: list[Read] = list(_blocks(content, path))
    elif aiperf.recognises_table(header):
        found = [aiperf.read(aiperf.document_of(content), path.stem)]
    elif vllm.recognises(header):
        found = list(_runs(_lines(path), path))
    else:
        found = list(_runs(documents(content, path), path))
    if not any(isinstance(run, Benchmark) for run in found):
        reasons = "; ".join(
            dict.fromkeys(run.reason for run in found if isinstance(run, Unusable))
        )
        raise InputError(f"holds no usable measurement: {reasons}", where=str(path))
    return tuple(found)


def is_table(header: Sequence[str]) -> bool:
    """Tell whether this is the header of a tool's own CSV file."""
    return aiperf.recognises_table(header) or vllm.recognises(header)


def _lines(path: Path) -> list[Document]:
    """Return the rows of a table as the documents that it was made of."""
    header, rows = read_cells(path)
    check_shape(path, header, rows)
    return [dict(zip(header, cells, strict=True)) for _, cells in rows]


def _runs(found: Iterable[Document], path: Path) -> Iterable[Read]:
    listed = list(found)
    if llmperf.recognises_requests(listed):
        yield llmperf.read_requests(listed, path.stem)
        return
    seen: dict[str, int] = {}
    for place, document in enumerate(listed, 1):
        case = path.stem if len(listed) == 1 else f"{path.stem} #{place}"
        first = seen.setdefault(json.dumps(document, sort_keys=True), place)
        if first != place:
            yield Unusable(case, f"repeats run #{first} of the file")
            continue
        read = next((one for one in FORMATS if one.recognises(document)), None)
        if read is None:
            raise unknown_format(path, list(document))
        yield from read.read_all(document, case)


def _blocks(content: str, path: Path) -> Iterable[Read]:
    """Return the runs of a text that a tool printed: it does not hold all keys of a file."""
    listed = list(printed.documents_of(content))
    for place, document in enumerate(listed, 1):
        case = path.stem if len(listed) == 1 else f"{path.stem} #{place}"
        read = sglang if sglang.recognises(document) else vllm
        yield from read.read_all(document, case)


def unknown_format(path: Path, found: Sequence[str] = ()) -> InputError:
    """Return the error for a file that no importer knows, by its keys or columns."""
    known = stranger(found)
    if known is not None:
        return InputError(f"this is {known.what}", where=str(path), remedy=known.instead)
    tools = "; ".join(module.NAME for module in FORMATS)
    has = f" (found {named(found)})" if found else ""
    return InputError(
        f"not a result file of a tool that is known here{has}",
        where=str(path),
        remedy=f"known: {tools}; or a CSV table of measured runs",
    )
