"""Routed experts: a fixed time, the experts' weights, the tokens' work; and a table of shapes."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import numpy as np

from calibration.fit.problem import FEWEST, Problem, by_tokens, groups_of
from calibration.fit.shapes import ShapeRows
from calibration.fit.solve import ALL, Coefficient, Rows
from calibration.fit.source import Source, construct, kernels_of
from calibration.timings import Timings
from calibration.timings.schema import MXFP8
from sim.cost.expert_shapes import ExpertShape
from sim.cost.experts import Routing
from sim.cost.forms import experts_s
from sim.cost.work import ACTIVATION_BYTES
from sim.hardware import ExpertsFit
from sim.precision import BYTES_PER_WEIGHT, Precision
from sim.records import FloatArray

MOST_GPUS: Final = 8
"""Experts over more GPUs go by the form and their neighbours: a table must stay small."""
ROUTINGS: Final = ("power_law_1.2", "power_law_1.01", "balanced")
"""In order of preference: balanced routing is quicker than servers are."""
_LEFT_OUT: Final = (
    f"not used are those of another routing than the most lifelike one ({ROUTINGS[0]} first),"
    f" of slower kernels of the same shape, or over more than {MOST_GPUS} GPUs"
)
_FACTS: Final = (
    *("tokens", "experts", "active_experts", "hidden_size", "intermediate_size"),
    *("tensor_parallel", "expert_parallel"),
)


def experts_problem(timings: Timings, precision: Precision, source: Source) -> Problem | None:
    """Return the experts whose weights have one format; None without rows."""
    given = timings.where(operation="experts", precision=precision)
    gpus = given.number("tensor_parallel") * given.number("expert_parallel")
    rows = _fastest(_routed(given.keep(gpus <= MOST_GPUS)))
    if not len(rows):
        return None
    unpacked = _computed(precision, source)
    computed = "fp8" if _with_mxfp8(rows) else unpacked
    peak = source.gpu.peak_flop_per_s(computed) or 0.0
    m, _, k, hidden, _, _, ep = (rows.number(name) for name in _FACTS)
    one = _expert_elements(rows)
    hits, share = _busiest(rows)
    choices = m * k / ep * share
    input_bytes = 1.0 if unpacked == "fp8_block" else BYTES_PER_WEIGHT[unpacked]
    moved = hits * one * BYTES_PER_WEIGHT[precision]
    moved = moved + choices * hidden * (input_bytes + ACTIVATION_BYTES)
    flop = 2.0 * choices * one
    rates = {"flop_per_s": peak, "bytes_per_s": source.bandwidth}

    def seconds(fit: ExpertsFit, some: Rows = ALL) -> FloatArray:
        return np.asarray(experts_s(fit, flop=flop[some], bytes_moved=moved[some], **rates))

    def make(values: Mapping[str, float]) -> ExpertsFit:
        return construct(ExpertsFit, values, p=1.0, computed=computed)

    base, every = source.base.experts[precision], np.ones(len(rows), dtype=bool)
    groups, shapes = _shapes(rows)
    table = ShapeRows(shapes, groups, m, base.residual)
    return Problem(
        part=f"experts.{precision}",
        kernels=kernels_of(rows),
        measured_s=rows.number("latency_s"),
        floor_s=np.maximum(flop / peak, moved / source.bandwidth),
        groups=groups,
        coordinates={"tokens": m, "expert_parallel": ep},
        flop=flop,
        bytes_moved=moved,
        coefficients=_coefficients(base, source),
        form=lambda values, some: seconds(make(values), some),
        make=make,
        base_s=_base_seconds(base, seconds(base), table),
        scored=every,
        regimes=by_tokens(m, every),
        table=table,
        left_out=None if len(rows) == len(given) else f"of {len(given)}; {_LEFT_OUT}",
        certain_floor_s=flop / share / peak,  # how many experts are hit is a matter of routing
        note=f"products in {computed}; tokens routed by {', '.join(rows.texts('routing'))}",
    )


def _base_seconds(base: ExpertsFit, form_s: FloatArray, table: ShapeRows) -> FloatArray:
    """Return what the base predicts, its table included."""
    if base.residual is None:
        return form_s
    found: FloatArray = form_s * np.exp(table.log_ratio(base.residual))
    return found


def _coefficients(base: ExpertsFit, source: Source) -> tuple[Coefficient, ...]:
    names = ("flop_efficiency", "bandwidth_efficiency")
    return (
        Coefficient("fixed_s", "time", base.fixed_s, source.sigma),
        *(Coefficient(name, "efficiency", getattr(base, name), source.sigma) for name in names),
    )


def _computed(precision: Precision, source: Source) -> Precision:
    """Return the format that products run in; the MXFP4 rows are of kernels that unpack to 16."""
    has_units = source.gpu.peak_flop_per_s(precision) is not None
    return precision if has_units and precision != "mxfp4" else "bf16"


def _with_mxfp8(rows: Timings) -> bool:
    """Whether all kernels take MXFP8 activations: then products run at the pace of FP8."""
    names = rows.texts("kernel")
    return bool(names) and all(name.endswith(MXFP8) for name in names)


def _routed(rows: Timings) -> Timings:
    """Return the rows of the most lifelike routing of which there are enough, else of the most."""
    by_routing = [rows.where(routing=name) for name in ROUTINGS if name in rows.texts("routing")]
    if not by_routing:
        return rows
    enough = (each for each in by_routing if len(each) >= FEWEST)
    return next(enough, max(by_routing, key=len))


def _fastest(rows: Timings) -> Timings:
    """Return the quickest kernel of each shape: engines choose among several."""
    if not len(rows):
        return rows
    groups = groups_of(*(rows.number(name) for name in _FACTS))
    order = np.argsort(rows.number("latency_s"), kind="stable")
    _, first = np.unique(groups[order], return_index=True)
    mask = np.zeros(len(rows), dtype=bool)
    mask[order[first]] = True
    return rows.keep(mask)


def _expert_elements(rows: Timings) -> FloatArray:
    """Weights of one expert on one rank."""
    width = rows.number("intermediate_size") / rows.number("tensor_parallel")
    found: FloatArray = np.where(_gated(rows), 3.0, 2.0) * rows.number("hidden_size") * width
    return found


def _gated(rows: Timings) -> "np.typing.NDArray[np.bool_]":
    return np.array([flag is not False for flag in rows.table["gated"].to_pylist()], dtype=bool)


def _busiest(rows: Timings) -> tuple[FloatArray, FloatArray]:
    """Return the experts that the busiest rank hits, and its load over the mean, row by row."""
    facts = zip(
        *(rows.number(name) for name in ("experts", "active_experts", "expert_parallel")),
        rows.number("tokens"),
        strict=True,
    )
    found = np.array([_of_routing(int(e), int(k), int(r), m) for e, k, r, m in facts])
    return found[:, 0], found[:, 1]


@lru_cache(maxsize=1 << 14)
def _of_routing(experts: int, active: int, ranks: int, tokens: float) -> tuple[float, float]:
    routing = Routing(experts, active, ranks)
    return routing.busiest_hits(tokens), routing.busiest_share(tokens)


def _shapes(rows: Timings) -> "tuple[np.typing.NDArray[np.intp], list[ExpertShape]]":
    """Return the shape number of each row, and the shapes."""
    hidden, width, experts, active, ranks, shared = (
        rows.number(name)
        for name in (
            *("hidden_size", "intermediate_size", "experts", "active_experts"),
            *("expert_parallel", "tensor_parallel"),
        )
    )
    matrices = np.where(_gated(rows), 3.0, 2.0)
    columns = hidden, width / shared, experts / ranks, active, ranks, matrices
    groups = groups_of(*columns)
    _, first = np.unique(groups, return_index=True)
    shapes = [ExpertShape(*(float(column[row]) for column in columns)) for row in first]
    return groups, shapes
