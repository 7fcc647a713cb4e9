"""What a frontier says, in a sentence."""

from sim.planning import Frontier, Rung
from sim.report.words import gpu_label, ratio, significant, usd
from sim.units import MEGA


def frontier_finding(frontier: Frontier, target: float | None = None) -> str:
    """Return the answer in a sentence: at a user speed [tokens/s], or over all of them."""
    if target is not None:
        return _at(frontier, frontier.ladder([target])[0])
    regions = frontier.regions()
    if not regions:
        return "No strategy meets the targets at any load"
    gpu = gpu_label(frontier.points[0].hardware)
    chief = _name(frontier, regions[0].winner)
    first = f"{chief[:1].upper()}{chief[1:]} gets the most out of each {gpu}"
    if len(regions) == 1:
        return f"{first} at every speed up to {significant(regions[0].high, 2)} tokens/s per user"
    parts = [f"up to {significant(regions[0].high, 2)} tokens/s per user"]
    parts += [
        f"{_name(frontier, item.winner)} up to {significant(item.high, 2)}" for item in regions[1:]
    ]
    return f"{first} {', '.join(parts)}"


def _at(frontier: Frontier, rung: Rung) -> str:
    speed = significant(rung.user_tokens_per_s)
    if rung.winner is None:
        return f"No strategy gives each user {speed} tokens/s"
    gpu, name = gpu_label(frontier.points[0].hardware), _name(frontier, rung.winner)
    start, lead = f"At {speed} tokens/s per user, {name} gets", rung.ratio[rung.winner]
    if rung.winner == frontier.baseline:
        most = rung.output_tokens_per_s_per_gpu[rung.winner] or 0.0
        return f"{start} the most out of each {gpu}: {significant(most)} tokens/s"
    if lead is None:
        slow = _name(frontier, frontier.baseline)
        return f"{start} the most out of each {gpu}; {slow} is not that fast"
    return f"{start} {ratio(lead)} the tokens out of each {gpu}{_price(frontier, rung)}"


def _price(frontier: Frontier, rung: Rung) -> str:
    """Return the two prices per million tokens, where there are prices."""
    per_usd, winner = rung.output_tokens_per_usd, rung.winner
    new = None if winner is None else per_usd[winner]
    old = per_usd[frontier.baseline]
    if new is None or old is None:
        return ""
    return f": {usd(MEGA / new)} per 1M instead of {usd(MEGA / old)}"


def _name(frontier: Frontier, strategy: str) -> str:
    """Return a strategy inside a sentence; acronyms keep their capitals."""
    entry = next(item for item in frontier.entries if item.strategy == strategy)
    label = entry.label if entry.label[:2].isupper() else entry.label[:1].lower() + entry.label[1:]
    name = f"{label} decoding" if label in {"autoregressive", "speculative"} else label
    return f"{name} (what-if)" if entry.what_if else name
