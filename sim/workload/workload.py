"""The `workload` part of a scenario, and the traffic drawn from it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Gt, Le, MinLen
from pydantic import AfterValidator, BaseModel, ConfigDict, field_validator, model_validator

from sim.errors import InputError
from sim.records import FloatArray, IntArray, Traffic
from sim.workload.arrivals import Arrivals, ClosedLoop, Constant, Gamma, Poisson, Trace
from sim.workload.dependence import by_rank_correlation, by_rank_table
from sim.workload.lengths import Drawn, FromTrace, Lengths
from sim.workload.presets import SIDES, expand_preset, kind_of, load_workload_preset
from sim.workload.streams import open_uniforms, stream
from sim.workload.traces import TraceRows, read_trace


def _known_dependence(value: float | str) -> float | str:
    if isinstance(value, str):
        load_workload_preset(value)
    elif not -1 <= value <= 1:
        raise ValueError(f"should lie between -1 and 1, found {value:g}")
    return value


def _editable_schema(schema: dict[str, Any]) -> None:
    """A preset or a trace fills in what is left out, so no key is required on its own."""
    schema.pop("required", None)


_TAIL_ROWS = 20_000
"""Background rows keep the load up while the last measured requests are served."""


class Workload(BaseModel):
    """When requests arrive and how long their prompts and answers are."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,
        json_schema_extra=_editable_schema,
    )

    preset: str | None = None
    """Statistics of real traffic to start from (`sim/catalog/workloads/`); other keys amend it."""
    arrivals: Arrivals
    input_tokens: Lengths
    output_tokens: Lengths
    length_correlation: Annotated[float | str, AfterValidator(_known_dependence)] = 0.0
    """Rank correlation (Spearman) of input and output, or the preset whose joint ranks to use."""
    domains: Annotated[dict[str, Annotated[float, Gt(0), Le(1)]], MinLen(1)] | None = None
    """Share of the requests by domain (chat, code, ...), where acceptance depends on it."""

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, data: object) -> object:
        """Fill in what a preset or a trace stands for."""
        if not isinstance(data, Mapping):
            return data
        given = dict(data)
        if kind_of(given.get("arrivals")) == "trace":
            if given.get("preset") is not None:
                raise ValueError("takes its lengths from the trace: remove `preset`")
            return given | {side: given.get(side) or {"kind": "trace"} for side in SIDES}
        name = given.get("preset")
        return expand_preset(name, given) if isinstance(name, str) else given

    @model_validator(mode="after")
    def _check(self) -> Self:
        lengths = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        drawn = [name for name, kind in lengths.items() if not isinstance(kind, FromTrace)]
        if isinstance(self.arrivals, Trace):
            if drawn or self.length_correlation != 0:
                extra = " and ".join([f"`{name}`" for name in drawn] or ["`length_correlation`"])
                raise ValueError(f"takes its lengths from the trace: remove {extra}")
        elif len(drawn) < len(lengths):
            name = next(iter(lengths.keys() - set(drawn)))
            raise ValueError(f"has `{name}` from a trace, but `arrivals` is not a trace")
        return self

    @field_validator("domains")
    @classmethod
    def _whole(cls, shares: dict[str, float] | None) -> dict[str, float] | None:
        if shares is not None and abs(sum(shares.values()) - 1.0) > 1e-6:
            raise ValueError(f"has shares that are {sum(shares.values()):g} in sum, not 1")
        return shares

    @classmethod
    def from_trace(cls, path: Path, rate_scale: float = 1.0) -> "Workload":
        """Return the replay of a trace (`rate_scale` 2: twice as fast)."""
        arrivals = Trace(path=path, rate_scale=rate_scale)
        return cls(arrivals=arrivals, input_tokens=FromTrace(), output_tokens=FromTrace())

    def relative_to(self, folder: Path) -> "Workload":
        """Return the workload with a relative path of a trace taken from `folder`."""
        if not isinstance(self.arrivals, Trace):
            return self
        path = folder / self.arrivals.path.expanduser()  # an absolute path stays as it is
        return self._arriving(self.arrivals.model_copy(update={"path": path}))

    def draw(self, requests: int, seed: int, *, limit: int | None = None) -> Traffic:
        """Return the traffic of one run; the first rows do not depend on how many are drawn.

        Open loop: `requests` rows that are measured, and in the background as many again, up to
        20,000 and a twentieth. Closed loop: `requests` rows. A trace: every row, or the first
        `limit`, whatever `requests` says.
        """
        if isinstance(self.arrivals, Trace):
            trace = self._trace_rows(self.arrivals).first(limit)
            arrival_s = trace.arrival_s / self.arrivals.rate_scale
            return Traffic(arrival_s, trace.input_tokens, trace.output_tokens, measured=len(trace))
        if requests < 1:
            raise InputError(f"should be 1 or more, found {requests}", where="run.requests")
        if isinstance(self.arrivals, ClosedLoop):
            return self._closed(self.arrivals, requests, seed)
        rows = requests + min(requests, _TAIL_ROWS + requests // 20)
        arrival_s = self.arrivals.times_s(rows, stream(seed, "arrivals"))
        inputs, outputs = self._lengths(rows, seed)
        return Traffic(arrival_s, inputs, outputs, measured=requests, steady_state=True)

    def draw_domains(self, rows: int, seed: int) -> tuple[tuple[str, ...], IntArray]:
        """Return the domains and which of them each row is of; no domains: all rows are of none.

        The first rows do not depend on how many are drawn, nor on the strategy.
        """
        if self.domains is None:
            return (), np.zeros(rows, np.int64)
        bounds = np.cumsum(list(self.domains.values()))
        ranks = open_uniforms(stream(seed, "domains"), rows) * bounds[-1]
        return tuple(self.domains), np.searchsorted(bounds, ranks, side="left")

    def _closed(self, arrivals: ClosedLoop, requests: int, seed: int) -> Traffic:
        if requests < arrivals.users:
            raise InputError(
                f"{arrivals.users} users cannot all be busy with {requests} requests",
                where="workload.arrivals.users",
                remedy="raise `run.requests`, to several for each user",
            )
        inputs, outputs = self._lengths(requests, seed)
        return Traffic(
            np.zeros(requests),
            inputs,
            outputs,
            measured=requests,
            users=arrivals.users,
            think_s=arrivals.think_s,
        )

    def _lengths(self, count: int, seed: int) -> tuple[IntArray, IntArray]:
        inputs, outputs = self._drawn()
        input_ranks = open_uniforms(stream(seed, "input_tokens"), count)
        output_ranks = open_uniforms(stream(seed, "output_tokens"), count)
        tied = self._tied(input_ranks, output_ranks)
        return inputs.draw(input_ranks, "input_tokens"), outputs.draw(tied, "output_tokens")

    def _drawn(self) -> tuple[Drawn, Drawn]:
        if isinstance(self.input_tokens, FromTrace) or isinstance(self.output_tokens, FromTrace):
            raise TypeError(
                "lengths of a trace are read, not drawn"
            )  # our mistake, not the user's
        return self.input_tokens, self.output_tokens

    def _tied(self, input_ranks: FloatArray, output_ranks: FloatArray) -> FloatArray:
        if isinstance(self.length_correlation, str):
            return by_rank_table(
                input_ranks, output_ranks, load_workload_preset(self.length_correlation).rank_table
            )
        if self.length_correlation == 0:
            return output_ranks
        return by_rank_correlation(input_ranks, output_ranks, self.length_correlation)

    @staticmethod
    def _trace_rows(arrivals: Trace) -> TraceRows:
        return read_trace(arrivals.path.expanduser()).first(arrivals.max_requests)

    def _arriving(self, arrivals: Poisson | Constant | Gamma | ClosedLoop | Trace) -> "Workload":
        return self.model_copy(update={"arrivals": arrivals})

    def with_rate(self, requests_per_s: float) -> "Workload":
        """Return the same traffic at another rate; a closed loop becomes Poisson arrivals."""
        if not 0 < requests_per_s <= 1e6:
            raise InputError(
                f"a rate should be above 0 and at most 1e6 requests/s, found {requests_per_s:g}",
                where="workload.arrivals.requests_per_s",
            )
        if isinstance(self.arrivals, ClosedLoop):
            return self._arriving(Poisson(requests_per_s=requests_per_s))
        if isinstance(self.arrivals, Trace):
            own = self._trace_rows(self.arrivals).requests_per_s
            if own is None:
                raise InputError(
                    "all requests arrive at once, so the trace has no rate to scale",
                    where=str(self.arrivals.path),
                )
            update: dict[str, Any] = {"rate_scale": requests_per_s / own}
            return self._arriving(self.arrivals.model_copy(update=update))
        return self._arriving(self.arrivals.model_copy(update={"requests_per_s": requests_per_s}))

    def with_users(self, users: int) -> "Workload":
        """Return requests of the same lengths from a closed loop of `users`."""
        if isinstance(self.arrivals, Trace):
            raise InputError(
                "a trace brings its own arrivals and cannot become a closed loop",
                where="workload.arrivals",
                remedy="sweep its rate, or draw lengths from a preset",
            )
        if users < 1:
            raise InputError(
                f"should be 1 or more, found {users}", where="workload.arrivals.users"
            )
        think_s = self.arrivals.think_s if isinstance(self.arrivals, ClosedLoop) else 0.0
        return self._arriving(ClosedLoop(users=users, think_s=think_s))

    def mean_tokens(self) -> tuple[float, float]:
        """Mean input and output length of a request, tokens."""
        if isinstance(self.arrivals, Trace):
            rows = self._trace_rows(self.arrivals)
            return float(rows.input_tokens.mean()), float(rows.output_tokens.mean())
        inputs, outputs = self._drawn()
        return inputs.mean_tokens("input_tokens"), outputs.mean_tokens("output_tokens")

    @property
    def offered_requests_per_s(self) -> float | None:
        """Mean arrival rate; None for a closed loop, whose rate follows from the answers."""
        if isinstance(self.arrivals, ClosedLoop):
            return None
        if isinstance(self.arrivals, Trace):
            own = self._trace_rows(self.arrivals).requests_per_s
            return None if own is None else own * self.arrivals.rate_scale
        return self.arrivals.requests_per_s

    def describe(self) -> str:
        """Return the workload in one line, for reports."""
        inputs, outputs = self.mean_tokens()
        means = f"mean {inputs:,.0f} input and {outputs:,.0f} output tokens"
        if isinstance(self.arrivals, Trace):
            rate, rows = self.offered_requests_per_s, self._trace_rows(self.arrivals)
            pace = "all at once" if rate is None else f"{rate:.3g} requests/s"
            return f"{self.arrivals.describe()}: {len(rows):,} requests, {pace}; {means}"
        first, second = self._drawn()
        parts = [self.arrivals.describe(), f"input {first.describe()}, output {second.describe()}"]
        if self.length_correlation != 0:
            parts.append(self._dependence())
        return "; ".join([*parts, means])

    def _dependence(self) -> str:
        if isinstance(self.length_correlation, str):
            return f"joint lengths as in {self.length_correlation}"
        return f"rank correlation of the lengths {self.length_correlation:g}"
