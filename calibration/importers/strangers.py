"""Files that people take for what they are not: each is named, with what to give instead."""

from collections.abc import Iterable
from typing import Final, NamedTuple


class Stranger(NamedTuple):
    """Keys or columns that tell a file, what it is, and what to do."""

    marks: frozenset[str]
    what: str
    instead: str


_STRANGERS: Final = (
    Stranger(
        frozenset({"elapsed_time", "requests_per_second", "tokens_per_second"}),
        "a result of `vllm bench throughput`, which has no latencies",
        "give one of `vllm bench serve`",
    ),
    Stranger(
        frozenset({"avg_latency", "latencies", "percentiles"}),
        "a result of `vllm bench latency`: whole batches, without times to first tokens",
        "give one of `vllm bench serve`",
    ),
    Stranger(
        frozenset({"backend", "successful_requests", "last_gen_throughput"}),
        "a result of SGLang's bench_offline_throughput, which has no latencies",
        "give one of bench_serving",
    ),
    Stranger(
        frozenset({"prefill_latency", "median_decode_latency"}),
        "a result of SGLang's bench_one_batch: one batch, without requests that come and go",
        "give one of bench_serving",
    ),
    Stranger(
        frozenset({"aiperf_version", "metadata", "metrics"}),
        "AIPerf's aggregate over several runs",
        "give profile_export_aiperf.json of one of them",
    ),
    Stranger(
        frozenset({"timeslices"}),
        "AIPerf's slices of one run, which mix its beginning and its end",
        "give profile_export_aiperf.json of the same folder",
    ),
    Stranger(
        frozenset({"Timeslice", "Metric", "Stat"}),
        "AIPerf's slices of one run, which mix its beginning and its end",
        "give profile_export_aiperf.csv of the same folder",
    ),
    Stranger(
        frozenset({"Run Info", "Benchmark", "Timings"}),
        "GuideLLM's table of benchmarks, whose header has three rows",
        "give benchmarks.json of the same run",
    ),
    Stranger(
        frozenset({"metadata", "metrics"}),
        "AIPerf's list of single requests, which does not tell how they were sent",
        "give profile_export_aiperf.json of the same folder",
    ),
    Stranger(
        frozenset({"experiments", "service_kind"}),
        "GenAI-Perf's list of single requests",
        "give profile_export_genai_perf.json of the same folder",
    ),
    Stranger(
        frozenset({"Concurrency", "Inferences/Second"}),
        "a table of Triton's perf_analyzer: whole requests, no tokens",
        "give a result of GenAI-Perf or AIPerf",
    ),
    Stranger(
        frozenset({"Request Rate", "Inferences/Second"}),
        "a table of Triton's perf_analyzer: whole requests, no tokens",
        "give a result of GenAI-Perf or AIPerf",
    ),
)


def stranger(names: Iterable[str]) -> Stranger | None:
    """Return what a file with these keys or columns is, where it is a known one of no use."""
    found = set(names)
    return next((one for one in _STRANGERS if one.marks <= found), None)
