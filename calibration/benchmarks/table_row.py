"""One row of a table of runs as pages state them: text on its way to a `Benchmark`."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from calibration.importers import Benchmark, Lengths, Served
from calibration.importers.gpus import gpu_name
from calibration.importers.names import engine_name, weights_name
from calibration.importers.numbers import quantiles, text
from calibration.validate.own import own_of
from sim.errors import InputError

TOOL: Final = "table of runs"
PERCENTILES: Final = (50, 90, 95, 99)
"""Of the lengths, those that a column may tell: `output_tokens_p90`."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row, checked cell by cell."""

    path: Path
    line: int
    cells: Mapping[str, str]
    columns: Mapping[str, str]
    """Figures by the column that holds them."""

    def benchmark(self) -> Benchmark:
        """Return the run, or raise one sentence that names the line and the column."""
        rate, users = self._number("requests_per_s"), self._whole("concurrency")
        prompts, lasting_s = self._whole("num_prompts"), self._number("duration_s")
        if prompts is None and rate is not None and lasting_s is not None:
            prompts = max(1, round(rate * lasting_s))
        if rate is None and users is None and prompts is None:
            if "concurrency" not in self.cells:
                raise self._fault("requests_per_s", "is empty")
            raise self._fault("concurrency", "is empty, and so are `requests_per_s` and"
                              " `num_prompts`: how were requests sent?")  # fmt: skip
        served = self._served()
        return Benchmark(
            case=self.cells.get("case") or f"line {self.line}",
            tool=TOOL,
            inputs=self._lengths("input_tokens"),
            outputs=self._lengths("output_tokens"),
            prompts=prompts,
            figures=dict(self._figures(served)),
            served=served,
            requests_per_s=rate,
            burstiness=self._number("burstiness") or 1.0,
            users=users,
            at_once=rate is None and users is None,
            suspect=self.cells.get("suspect", "").lower() in {"1", "1.0", "true"},
        )

    def _served(self) -> Served:
        label, counted = gpu_name(self.cells.get("gpu"))
        own = own_of(self.cells, num_prompts=None, where=f"{self.path}, line {self.line}")
        width = self._whole("tensor_parallel")
        experts, ranks, stages = map(
            self._whole, ("expert_parallel", "attention_data_parallel", "pipeline_parallel")
        )
        if width is None and not (experts or ranks or stages):
            width = counted  # "8 x H200": a label that counts its GPUs tells the layout, too
        return Served(
            model=text(self.cells.get("model")),
            gpu=label,
            engine=engine_name(self.cells.get("engine")),
            weights=weights_name(self.cells.get("weights")),
            tensor_parallel=width,
            replicas=self._whole("replicas"),
            deployment=own.deployment,
            engine_options=own.engine,
            decoding=own.decoding,
            expert_parallel=experts,
            attention_data_parallel=ranks,
            pipeline_parallel=stages,
        )

    def _figures(self, served: Served) -> Iterator[tuple[str, float]]:
        found = {
            name: value
            for column, name in self.columns.items()
            if (value := self._number(column)) is not None
        }
        if not found:
            raise self._fault("a measured figure", "is missing")
        prompt, answer = (self._lengths(f"{side}_tokens").mean for side in ("input", "output"))
        for name in [name for name in found if name.endswith("_per_gpu")]:
            whole = name.removesuffix("_per_gpu")
            found.setdefault(whole, found.pop(name) * served.gpus)
        if "total_tokens_per_s" in found:
            total = found.pop("total_tokens_per_s")
            found.setdefault("output_tokens_per_s", total * answer / (prompt + answer))
        yield from found.items()

    def _lengths(self, name: str) -> Lengths:
        tokens, share = self._needed(name), self._number("shortest_share")
        told = {percent: self._number(f"{name}_p{percent}") for percent in PERCENTILES}
        longest = self._number(f"{name}_max")
        if longest is not None or any(told.values()):
            return self._spread(name, tokens, told, longest)
        if share is None:
            return Lengths(tokens)
        if share > 1:
            raise self._fault("shortest_share", f"should be at most 1, found {share:g}")
        low = max(1.0, math.floor(share * tokens))
        return Lengths((low + tokens) / 2, quantiles=((0.0, low), (1.0, tokens)))

    def _spread(
        self, name: str, mean: float, told: Mapping[int, float | None], longest: float | None
    ) -> Lengths:
        """Return lengths by the quantiles of a page; the ends that it does not tell are near."""
        known = [value for value in (*told.values(), longest) if value is not None]
        shortest = self._number(f"{name}_min") or 1.0
        found = quantiles(shortest, told, longest or known[-1])
        if not found:
            raise self._fault(name, "has quantiles that fall")
        return Lengths(mean, quantiles=found)

    def _needed(self, name: str) -> float:
        value = self._number(name)
        if value is None:
            raise self._fault(name, "is empty")
        return value

    def _number(self, name: str) -> float | None:
        """A finite number above 0, or None for an empty cell or no such column."""
        cell = self.cells.get(name, "")
        if not cell:
            return None
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value <= 0:
            raise self._fault(name, f"should be a number above 0, found {cell!r}")
        return value

    def _whole(self, name: str) -> int | None:
        value = self._number(name)
        if value is not None and value != int(value):
            raise self._fault(name, f"should be a whole number, found {value:g}")
        return None if value is None else int(value)

    def _fault(self, name: str, problem: str) -> InputError:
        return InputError(f"line {self.line}: `{name}` {problem}", where=str(self.path))
