"""The `workload` part of a scenario, and the traffic drawn from it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, ConfigDict, model_validator

from sim.errors import InputError
from sim.records import Traffic
from sim.units import counted
from sim.workload.arrivals import Arrivals, ClosedLoop, OpenLoop, Poisson, Trace
from sim.workload.classes import (
    Dependence,
    Kind,
    PrefixCount,
    PrefixTokens,
    RequestClass,
    check_classes,
    kinds_of,
)
from sim.workload.domains import Domains
from sim.workload.lengths import FromTrace, Lengths
from sim.workload.presets import SIDES, expand_preset, kind_of
from sim.workload.sessions import Sessions, mean_tokens
from sim.workload.trace_rows import TraceRows
from sim.workload.traces import read_trace
from sim.workload.traffic import Asked, draw_closed, draw_open, replay
from sim.workload.windows import Windows


def _editable_schema(schema: dict[str, Any]) -> None:
    """A preset or a trace fills in what is left out, so no key is required on its own."""
    schema.pop("required", None)


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
    input_tokens: Lengths | None = None
    """Length of a prompt; in a session, of the new text of a turn. Needed unless every class has
    its own."""
    output_tokens: Lengths | None = None
    length_correlation: Dependence = 0.0
    """Rank correlation (Spearman) of input and output, or the preset whose joint ranks to use."""
    domains: Domains | None = None
    """Share of the requests by domain (chat, code, ...), where acceptance depends on it."""
    classes: Annotated[tuple[RequestClass, ...], MinLen(1)] | None = None
    """Kinds of requests that share the deployment; their shares add up to 1."""
    sessions: Sessions | None = None
    """Requests come in turns, each with the history of its session."""
    shared_prefix_tokens: PrefixTokens = 0
    """Tokens of a system prompt that stands before each prompt, on top of `input_tokens`."""
    shared_prefixes: PrefixCount = 1
    """How many different system prompts there are, each as likely."""
    prefix_block_tokens: Annotated[int, Ge(1), Le(65_536)] = 16
    """Tokens by which it is told what begins alike; larger takes less memory."""
    warmup_requests: Annotated[int, Ge(0), Le(100_000_000)] | None = None
    """Requests at the beginning that are simulated and not counted, in front of the counted ones
    (of a trace: its first); left out: the warm-up is found by itself where there is a steady one.
    """
    cooldown_requests: Annotated[int, Ge(0), Le(100_000_000)] | None = None
    """Requests at the end that keep the load up and are not counted (of a trace: its last); left
    out: as many as are counted, up to 20,000 and a twentieth, in an open loop, else none."""

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
        if isinstance(self.arrivals, Trace):
            drawn = [name for name, kind in lengths.items() if not isinstance(kind, FromTrace)]
            others = ("length_correlation", "classes", "sessions", "shared_prefix_tokens")
            drawn += [name for name in others if not drawn and getattr(self, name)]
            if drawn:
                extra = " and ".join(f"`{name}`" for name in drawn)
                raise ValueError(f"takes its lengths from the trace: remove {extra}")
            return self
        for name, kind in lengths.items():
            if isinstance(kind, FromTrace):
                problem = f"has `{name}` from a trace, but `arrivals` is not a trace"
                raise ValueError(problem)  # noqa: TRY004 (pydantic's own)
        if self.classes is not None:
            check_classes(self.classes)
        self.kinds()
        return self

    @classmethod
    def from_trace(cls, path: Path, rate_scale: float = 1.0) -> "Workload":
        """Return the replay of a trace (`rate_scale` 2: twice as fast)."""
        arrivals = Trace(path=path, rate_scale=rate_scale)
        return cls(arrivals=arrivals, input_tokens=FromTrace(), output_tokens=FromTrace())

    def relative_to(self, folder: Path) -> "Workload":
        """Return the workload with a relative path of a trace taken from `folder`."""
        if not isinstance(self.arrivals, Trace | Windows) or self.arrivals.path is None:
            return self
        path = folder / self.arrivals.path.expanduser()  # an absolute path stays as it is
        return self._arriving(self.arrivals.model_copy(update={"path": path}))

    def kinds(self) -> tuple[Kind, ...]:
        """Return the classes with everything filled in; one called `default` without any.

        Raises `ValueError` where a length is missing. A trace has none: it is not drawn.
        """
        return kinds_of(
            self.classes,
            self.input_tokens,
            self.output_tokens,
            self.length_correlation,
            shared_prefix_tokens=self.shared_prefix_tokens,
            shared_prefixes=self.shared_prefixes,
        )

    def draw(
        self,
        requests: int,
        seed: int,
        *,
        limit: int | None = None,
        context_tokens: int | None = None,
    ) -> Traffic:
        """Return the traffic of one run; the first rows do not depend on how many are drawn.

        Open loop: `requests` rows that are measured, and in the background as many again, up to
        20,000 and a twentieth. Closed loop: `requests` rows. A trace: every row, or the first
        `limit`, whatever `requests` says. Warm-up and cool-down traffic comes on top. Sessions end
        where a turn would exceed `context_tokens`, unless the workload has a limit of its own.
        """
        ends = self.warmup_requests, self.cooldown_requests
        if isinstance(self.arrivals, Trace):
            rows = self._trace_rows(self.arrivals).first(limit)
            return replay(rows, self.arrivals.rate_scale, *ends)
        if requests < 1:
            raise InputError(f"should be 1 or more, found {requests}", where="run.requests")
        asked = Asked(self.kinds(), self.sessions, self.prefix_block_tokens, context_tokens, *ends)
        if isinstance(self.arrivals, ClosedLoop):
            return draw_closed(self.arrivals, asked, requests, seed)
        return draw_open(self.arrivals, asked, requests, seed)

    @staticmethod
    def _trace_rows(arrivals: Trace) -> TraceRows:
        return read_trace(arrivals.path.expanduser()).first(arrivals.max_requests)

    def _arriving(self, arrivals: OpenLoop | ClosedLoop | Trace) -> "Workload":
        return self.model_copy(update={"arrivals": arrivals})

    def with_rate(self, requests_per_s: float) -> "Workload":
        """Return the same traffic at another mean rate; a closed loop becomes Poisson arrivals."""
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
        return self._arriving(self.arrivals.at_rate(requests_per_s))

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
        if isinstance(self.arrivals, ClosedLoop):
            return self._arriving(self.arrivals.model_copy(update={"users": users}))
        return self._arriving(ClosedLoop(users=users))

    def least_tokens(self) -> int:
        """Return what a request of the longest class has at least, fixed lengths alone; tokens."""
        kinds = () if isinstance(self.arrivals, Trace) else self.kinds()
        return max((one.least_tokens() for one in kinds), default=0)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes of the traffic, in their order; `default` without any."""
        if isinstance(self.arrivals, Trace):
            return self._trace_rows(self.arrivals).class_names
        return tuple(one.name for one in self.kinds())

    def mean_tokens(self) -> tuple[float, float]:
        """Mean input and output length of a request, tokens: of sessions that no limit ends."""
        if isinstance(self.arrivals, Trace):
            rows = self._trace_rows(self.arrivals)
            return float(rows.input_tokens.mean()), float(rows.output_tokens.mean())
        return mean_tokens(self.kinds(), self.sessions)

    @property
    def offered_requests_per_s(self) -> float | None:
        """Mean arrival rate; None for a closed loop, whose rate follows from the answers."""
        if isinstance(self.arrivals, ClosedLoop):
            return None
        if isinstance(self.arrivals, Trace):
            own = self._trace_rows(self.arrivals).requests_per_s
            return None if own is None else own * self.arrivals.rate_scale
        return self.arrivals.mean_requests_per_s

    def describe(self) -> str:
        """Return the workload in one line, for reports."""
        inputs, outputs = self.mean_tokens()
        means = f"mean {inputs:,.0f} input and {outputs:,.0f} output tokens"
        if isinstance(self.arrivals, Trace):
            rate, rows = self.offered_requests_per_s, self._trace_rows(self.arrivals)
            pace = "all at once" if rate is None else f"{rate:.3g} requests/s"
            return f"{self.arrivals.describe()}: {counted(len(rows), 'request')}, {pace}; {means}"
        kinds = self.kinds()
        sessions = [] if self.sessions is None else [self.sessions.describe()]
        named = [f"{one.share:.3g} {one.name}: " if self.classes else "" for one in kinds]
        whats = [name + one.describe() for name, one in zip(named, kinds, strict=True)]
        return "; ".join([self.arrivals.describe(), *sessions, *whats, means])
