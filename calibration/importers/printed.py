"""What `vllm bench serve` and SGLang's bench_serving print, as pages and issues show it.

Each block under "Serving Benchmark Result" becomes the document that the tool would have written;
text around it, `#` in front and remarks behind are no matter.
"""

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from calibration.importers.files import Document

_HEAD: Final = "Serving Benchmark Result"
_LINE: Final = re.compile(r"^[\s#>|]*([A-Z][A-Za-z0-9 ()/.]*?):\s+(\S.*?)\s*$")
_VALUE: Final = re.compile(
    r"^(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)(?!\S)", re.IGNORECASE
)
_KEYS: Final = MappingProxyType(
    {
        "successful requests": "completed",
        "failed requests": "failed",
        "maximum request concurrency": "max_concurrency",
        "max request concurrency": "max_concurrency",
        "traffic request rate": "request_rate",
        "request rate configured (rps)": "request_rate",
        "benchmark duration (s)": "duration",
        "total input tokens": "total_input_tokens",
        "total generated tokens": "total_output_tokens",
        "request throughput (req/s)": "request_throughput",
        "output token throughput (tok/s)": "output_throughput",
        "accept length": "accept_length",
    }
)
_TIME: Final = re.compile(r"^(mean|median|p99) (ttft|tpot|itl|e2el|e2e latency) \(ms\)$")


def recognises_text(content: str) -> bool:
    """Tell whether a text holds such a block."""
    return _HEAD in content and not content.lstrip().startswith(("{", "["))


def documents_of(content: str) -> Iterator[Document]:
    r"""Yield each block as the keys of its tool's result file.

    >>> (one,) = documents_of("== Serving Benchmark Result ==\nMean TTFT (ms):   12.5  # late")
    >>> one
    {'mean_ttft_ms': 12.5}
    """
    for block in content.split(_HEAD)[1:]:
        found: dict[str, object] = {}
        for line in block.splitlines():
            told = _LINE.match(line)
            key = None if told is None else _key(told[1].lower())
            value = None if told is None else _VALUE.match(told[2])
            if key is not None and told is not None:  # what is no number is refused by name
                number = told[2] if value is None else float(value[1].replace(",", ""))
                found.setdefault(key, number)
        if "completed" in found:
            found["num_prompts"] = found["completed"]  # a file has it; the text does not
        yield found


def _key(label: str) -> str | None:
    time = _TIME.match(label)
    if time is not None:
        return f"{time[1]}_{time[2].replace(' ', '_')}_ms"
    return _KEYS.get(label)
