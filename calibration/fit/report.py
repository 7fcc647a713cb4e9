"""A page about a fit: its errors in words, and for each kernel three figures."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

import numpy as np

from calibration.fit.fit import Result
from calibration.fit.judge import Accepted
from sim.hardware import GpuProfile
from sim.precision import PRECISIONS, Precision
from sim.report.figures.kernels import KernelPoint, kernel_roof_figure, residuals_figure
from sim.report.figures.parity import ParityPoint, parity_figure
from sim.report.figures.template import CONFIG, Figure
from sim.report.files import write_whole
from sim.units import MS_PER_S

_MOST_POINTS: Final = 500
"""Drawn of each kernel, chosen evenly: a page must open."""
_STYLE: Final = (
    "body{font-family:system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:right}"
    "td:first-child,th:first-child{text-align:left}"
    "tr{border-bottom:1px solid #DDE2EA}.figures{display:grid;grid-template-columns:1fr 1fr}"
)


def write_report(result: Result, path: Path) -> Path:
    """Write the page, complete in itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_whole(path, report_page(result).encode())


def report_page(result: Result) -> str:
    """Return the page as HTML."""
    title = f"Kernels of {result.gpu.name} under {result.engine}"
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{escape(_lead(result))}</p>", _errors(result)]
    if result.refused:
        listed = "".join(f"<li>{escape(each)}</li>" for each in result.refusals)
        parts.append(f"<h2>Refused</h2><ul>{listed}</ul>")
    first = True
    for accepted in result.accepted:
        parts.append(f"<h2>{escape(accepted.part)}</h2><p>{escape(_words(accepted))}</p>")
        drawn = []
        for name, figure in _figures(accepted, result.gpu):
            drawn.append(
                figure.to_html(
                    config=CONFIG,
                    full_html=False,
                    include_plotlyjs=first,
                    div_id=f"{accepted.part}-{name}".replace(".", "-"),
                )
            )
            first = False
        parts.append(f'<div class="figures">{"".join(drawn)}</div>')
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f"<!doctype html><html><head>{head}</head><body>{''.join(parts)}</body></html>"


def _lead(result: Result) -> str:
    base = result.base_name or "the universal roofline"
    return (
        f"Fitted on {'; '.join(result.sources)}; prior: {base}. Errors are mean absolute errors of"
        " shapes that were held out (30 % of them, whole shapes at a time)."
    )


def _errors(result: Result) -> str:
    heads = (
        *("kernel", "timings", "held-out error", "second split", "form alone", "bias"),
        "by regime",
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(cell)}</td>"
            for cell in (
                accepted.part,
                f"{evidence.points:,}",
                f"{evidence.held_out['all']:.1%}",
                "" if evidence.held_out_again is None else f"{evidence.held_out_again:.1%}",
                "" if evidence.form_alone is None else f"{evidence.form_alone:.1%}",
                "" if evidence.bias is None else f"{evidence.bias:+.1%}",
                "; ".join(
                    f"{name} {error:.1%}"
                    for name, error in evidence.held_out.items()
                    if name != "all"
                ),
            )
        )
        + "</tr>"
        for accepted in result.accepted
        for evidence in (accepted.evidence,)
    )
    return f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{rows}</table>"


def _words(accepted: Accepted) -> str:
    evidence, said = accepted.evidence, []
    for name, value in accepted.fit:
        if isinstance(value, float):
            error = evidence.standard_errors.get(name)
            unit, factor = ("µs", 1e6) if name.endswith("_s") else ("", 1.0)
            spread = "" if error is None else f" ± {error * factor:.2g}"
            label = name.removesuffix("_s").replace("_", " ")
            said.append(f"{label} {value * factor:.4g}{spread} {unit}".strip())
    text = f"{evidence.kernels}. {'; '.join(said)}."
    if evidence.at_bound:
        text += f" At a bound: {', '.join(evidence.at_bound)}."
    return text if evidence.note is None else f"{text} Note: {evidence.note}."


def _figures(accepted: Accepted, gpu: GpuProfile) -> Iterator[tuple[str, Figure]]:
    points, quantity = _points(accepted)
    yield "residuals", residuals_figure(points, quantity=quantity)
    parity = [
        ParityPoint(
            f"{quantity} {point.size:,.0f}",
            "held out" if point.held_out else "fitted",
            point.measured_s * MS_PER_S,
            point.predicted_s * MS_PER_S,
        )
        for point in points
    ]
    yield "parity", parity_figure(parity, quantity="kernel time")
    if any(point.flop for point in points):
        yield (
            "roof",
            kernel_roof_figure(
                points,
                peak_flop_per_s=_peak(accepted, gpu),
                bytes_per_s=gpu.memory_bandwidth_bytes_per_s.value,
            ),
        )


def _peak(accepted: Accepted, gpu: GpuProfile) -> float:
    computed = getattr(accepted.fit, "computed", None)
    key = computed or accepted.part.partition(".")[2]
    precision: Precision = key if key in PRECISIONS else "bf16"
    if "attention" in accepted.part and computed is None:
        precision = "bf16"
    return gpu.peak_flop_per_s(precision) or gpu.bf16_dense_flop_per_s.value


def _points(accepted: Accepted) -> tuple[Sequence[KernelPoint], str]:
    rows = accepted.rows
    name = next((each for each in ("bytes", "tokens") if each in rows.coordinates), None)
    name = name or next(iter(rows.coordinates))
    chosen = np.linspace(
        0, len(rows.measured_s) - 1, min(_MOST_POINTS, len(rows.measured_s))
    ).astype(int)
    return [
        KernelPoint(
            float(rows.coordinates[name][row]),
            float(rows.measured_s[row]),
            float(rows.predicted_s[row]),
            float(rows.flop[row]),
            float(rows.bytes_moved[row]),
            bool(rows.held_out[row]),
        )
        for row in chosen
    ], name.replace("_", " ")
