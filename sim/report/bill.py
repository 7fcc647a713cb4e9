"""The bill in words."""

from typing import Final

from sim.economics.cost import Cost
from sim.report.table import Table, columns
from sim.report.words import count, maybe, maybe_span, percent, usd
from sim.run import Outcome

NO_PRICE: Final = "no price given: `prices: {list: …}` or `usd_per_gpu_hour`"
"""What is said of cost where a scenario has no price."""


def cost_table(outcome: Outcome) -> Table:
    """Return what is paid and for what: input, output, idle; or that there is no price."""
    cost = outcome.cost
    if cost is None:
        return Table("Cost", columns("<what"), ((NO_PRICE,),))
    rows = tuple(
        (line.item, usd(line.usd_per_hour), usd(line.usd_per_month), percent(line.share))
        for line in cost.lines
    )
    return Table("Cost", columns("<", "per hour", "per month", "share"), rows, _quote(cost))


def price_table(outcome: Outcome) -> Table | None:
    """Return what a token and a request cost."""
    cost = outcome.cost
    if cost is None:
        return None
    all_in = cost.usd_per_million_output_tokens_all_in
    all_in_interval = cost.interval_usd_per_million_output_tokens_all_in
    request_interval = cost.interval_usd_per_request
    rows = (
        ("million input tokens, busy time", maybe(cost.usd_per_million_input_tokens, usd), ""),
        ("million output tokens, busy time", maybe(cost.usd_per_million_output_tokens, usd), ""),
        ("million output tokens, all in", maybe(all_in, usd), maybe_span(all_in_interval, usd)),
        ("request, all in", maybe(cost.usd_per_request, usd), maybe_span(request_interval, usd)),
    )
    return Table("Price per unit", columns("<", "cost", "90% interval"), rows)


def _quote(cost: Cost) -> str:
    quote = cost.quote
    gpus = "1 GPU" if cost.gpus == 1 else f"{count(cost.gpus)} GPUs"
    price = f"{gpus} at {usd(quote.usd_per_gpu_hour)} per GPU-hour"
    return f"{price} ({quote.source}, {quote.as_of}), 730 hours a month"
