"""Six numbers, each with target, interval and origin: service first, then money."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from app.dashboard.choices import OWN_SOURCE
from app.dashboard.markdown import escape
from sim.provenance import weakest
from sim.report.words import Formatter, count, percent, span, time_ms, token_ms, usd
from sim.run import Outcome
from sim.units import MS_PER_S

_GROWS: Final = "queue grows"
_TOO_FEW: Final = "too few requests"
_INTERVAL: Final = "Chip: 90% interval of this one run."
_SATURATED: Final = "Here with all it can do: requests wait for as long as the traffic lasts."
_TTFT: Final = "Time to first token, network included: 99 of 100 requests wait no longer."
_TPOT: Final = "Time per output token after the first: 99 of 100 requests are no slower."
_ON_TARGET: Final = "Requests that meet every target, of all that were sent."
_PER_GPU: Final = "Output tokens per second and GPU, over the measured part of the run."
_PER_MILLION: Final = "All that is paid, idle time included, per million output tokens."
_PER_MONTH: Final = "730 hours of all GPUs. Chip: GPUs times price per hour."


@dataclass(frozen=True, slots=True)
class Tile:
    """One number as it is shown; a `value` of None is shown as a dash."""

    name: str
    value: str | None
    chip: str
    """The 90 % interval, or why there is none."""
    origin: str
    help: str
    verdict: str = ""
    """Target met or missed, in Markdown: colour, symbol and words."""
    number: float | None = None
    """The value in SI units, USD or as a share."""
    is_share: bool = False
    more_is_better: bool = False

    @property
    def label(self) -> str:
        """What stands above the number."""
        return f"{self.name} {self.verdict}".strip()


def tiles(outcome: Outcome, no_price: str | None) -> tuple[Tile, ...]:
    """Return the six tiles; `no_price` says why there is no cost."""
    return (
        _latency(outcome, "ttft", time_ms, _TTFT),
        _latency(outcome, "tpot", token_ms, _TPOT),
        _attainment(outcome),
        _per_gpu(outcome),
        _per_million(outcome, no_price),
        _per_month(outcome, no_price),
    )


def draw(row: tuple[Tile, ...]) -> None:
    """Draw tiles, three in a row on a desktop, two on a phone."""
    with st.grid(3, min_column_width=168):
        for tile in row:
            st.metric(
                escape(tile.label),
                None if tile.value is None else escape(tile.value),
                escape(tile.chip),
                delta_color="off",
                delta_arrow="off",
                delta_description=tile.origin or None,
                help=escape(tile.help),
                border=True,
            )


def _latency(outcome: Outcome, name: str, form: Formatter, help_: str) -> Tile:
    summary, label = outcome.metrics.latency[name], f"{name.upper()} p99"
    limit_s = outcome.scenario.slo.per_request_s().get(name)
    origin = weakest(outcome.provenance)
    if outcome.metrics.status == "overloaded":
        verdict = "" if limit_s is None else _missed(f"over {_limit(limit_s)}")
        return Tile(label, None, _GROWS, "", help_, verdict)
    if summary.p99 is None:
        return Tile(label, None, _TOO_FEW if summary.count else "one chunk", "", help_)
    verdict = ""
    if limit_s is not None:
        met = summary.p99 <= limit_s
        verdict = _met(f"≤ {_limit(limit_s)}") if met else _missed(f"over {_limit(limit_s)}")
    interval = summary.interval_p99
    chip = "no interval" if interval is None else span(interval, form)
    return Tile(
        *(label, form(summary.p99), chip, origin, f"{help_} {_INTERVAL}", verdict),
        number=summary.p99,
    )


def _attainment(outcome: Outcome) -> Tile:
    slo, result = outcome.scenario.slo, outcome.metrics.slo
    label, asked = "On target", percent(slo.attainment, 0)
    if not slo.per_request_s():
        return Tile(label, None, "no targets", "", _ON_TARGET)
    if outcome.metrics.status == "overloaded":
        return Tile(label, None, _GROWS, "", _ON_TARGET, _missed(f"under {asked}"))
    if result.attainment is None:
        return Tile(label, None, _TOO_FEW, "", _ON_TARGET)
    met = result.attainment >= slo.attainment
    verdict = _met(f"≥ {asked}") if met else _missed(f"under {asked}")
    interval = result.interval_attainment
    chip = "no interval" if interval is None else span(interval, percent)
    origin = weakest(outcome.provenance)
    help_ = f"{_ON_TARGET} {_INTERVAL}"
    return Tile(
        *(label, percent(result.attainment), chip, origin, help_, verdict),
        number=result.attainment, is_share=True, more_is_better=True,
    )  # fmt: skip


def _per_gpu(outcome: Outcome) -> Tile:
    rates, gpus = outcome.metrics.throughput, outcome.scenario.deployment.gpus
    value = rates.output_tokens_per_s_per_gpu
    if value is None:
        return Tile("Tokens/s per GPU", None, _TOO_FEW, "", _PER_GPU)
    interval, chip = rates.interval_output_tokens_per_s, "no interval"
    if interval is not None:
        chip = span((interval[0] / gpus, interval[1] / gpus), count)
    origin, help_ = weakest(outcome.provenance), f"{_PER_GPU} {_in_the_window(outcome)}"
    return Tile(
        *("Tokens/s per GPU", count(value), chip, origin, help_), number=value, more_is_better=True
    )


def _per_million(outcome: Outcome, no_price: str | None) -> Tile:
    label, cost = "$ per 1M output", outcome.cost
    if cost is None:
        return Tile(label, None, "no price", "", _because(_PER_MILLION, no_price))
    interval = cost.interval_usd_per_million_output_tokens_all_in
    chip = "no interval" if interval is None else span(interval, usd)
    value = cost.usd_per_million_output_tokens_all_in
    origin, help_ = weakest(outcome.provenance), f"{_PER_MILLION} {_in_the_window(outcome)}"
    said = None if value is None else usd(value)
    return Tile(label, said, chip, origin, help_, number=value)


def _per_month(outcome: Outcome, no_price: str | None) -> Tile:
    label, cost = "Cost per month", outcome.cost
    if cost is None:
        return Tile(label, None, "no price", "", _because(_PER_MONTH, no_price))
    quote = cost.quote
    own = quote.source == OWN_SOURCE
    chip = f"{cost.gpus} × {usd(quote.usd_per_gpu_hour)}/h"
    source = f"{quote.source} ({quote.as_of}); {quote.instance}."
    origin = "own price" if own else "list price"
    return Tile(
        *(label, usd(cost.usd_per_month), chip, origin, f"{_PER_MONTH} {source}"),
        number=cost.usd_per_month,
    )


def _in_the_window(outcome: Outcome) -> str:
    return f"{_SATURATED} {_INTERVAL}" if outcome.metrics.status == "overloaded" else _INTERVAL


def _because(help_: str, reason: str | None) -> str:
    return help_ if reason is None else f"{help_} Not known: {reason}."


def _limit(limit_s: float) -> str:
    """Return a target as it was set: 1 s, 50 ms."""
    if limit_s >= 1:
        return f"{limit_s:g} s"
    return f"{limit_s * MS_PER_S:g} ms"


def _met(words: str) -> str:
    return f":green[:material/check_circle: {words}]"


def _missed(words: str) -> str:
    return f":red[:material/error: {words}]"
