"""What a frontier says, in a sentence."""

from collections.abc import Sequence

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
    if len(frontier.entries) == 1:
        return _alone(frontier, gpu)
    rungs = frontier.ladder()
    tied = [rung for rung in rungs if rung.tied]
    top = f"{significant(regions[0].high, 2)} tokens/s per user"
    if len(regions) == 1 and tied and len({rung.tied for rung in rungs}) == 1:
        both = _joined(frontier, [regions[0].winner, *tied[0].tied])
        close = f"(less than {frontier.tie:.0%} apart)"
        return f"{_capital(both)} get as much out of each {gpu} {close} at every speed up to {top}"
    first = f"{_capital(_name(frontier, regions[0].winner))} gets the most out of each {gpu}"
    if len(regions) == 1:
        return f"{first} at every speed up to {top}{_save_for(frontier, tied)}"
    parts = [f"up to {significant(regions[0].high, 2)} tokens/s per user"]
    parts += [
        f"{_name(frontier, item.winner)} up to {significant(item.high, 2)}" for item in regions[1:]
    ]
    return f"{first} {', '.join(parts)}{_save_for(frontier, tied)}"


def _alone(frontier: Frontier, gpu: str) -> str:
    """Return what the only strategy gets, at the slowest and the fastest speed of the ladder."""
    name, best = frontier.entries[0].strategy, frontier.best[frontier.entries[0].strategy]
    speeds = [rung.user_tokens_per_s for rung in frontier.ladder()] or [best.fastest or 0.0]
    parts = [
        f"{significant(most)} tokens/s at {significant(speed)} tokens/s per user"
        for speed in dict.fromkeys((speeds[0], speeds[-1]))
        if (most := best.at(speed)) is not None
    ]
    return f"{_capital(_name(frontier, name))} gets out of each {gpu} {', '.join(parts)}"


def _save_for(frontier: Frontier, tied: Sequence[Rung]) -> str:
    """Return at which speeds of the ladder the lead is within the noise; nothing where nowhere."""
    if not tied:
        return ""
    by_names: dict[tuple[str, ...], list[str]] = {}
    for rung in tied:
        names = tuple(sorted(name for name in (rung.winner, *rung.tied) if name is not None))
        by_names.setdefault(names, []).append(significant(rung.user_tokens_per_s))
    parts = [
        f"between {_joined(frontier, names)} at {_listed(speeds)}"
        for names, speeds in by_names.items()
    ]
    return f", save for ties (less than {frontier.tie:.0%} apart) {'; '.join(parts)}"


def _joined(frontier: Frontier, names: Sequence[str]) -> str:
    return _listed([_name(frontier, name) for name in names])


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _at(frontier: Frontier, rung: Rung) -> str:
    speed = significant(rung.user_tokens_per_s)
    if rung.winner is None:
        return f"No strategy gives each user {speed} tokens/s"
    gpu, name = gpu_label(frontier.points[0].hardware), _name(frontier, rung.winner)
    if rung.tied:
        both = _joined(frontier, [rung.winner, *rung.tied])
        most = rung.output_tokens_per_s_per_gpu[rung.winner] or 0.0
        return (
            f"At {speed} tokens/s per user, {both} get as much out of each {gpu} (less than"
            f" {frontier.tie:.0%} apart): {significant(most)} tokens/s"
        )
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
