"""What is said of decoding strategies, told with the figures that were measured."""

from sim.planning.decoding_claims import FIXED_PASSES, DecodingClaims, Series
from sim.report.claim import Claim
from sim.report.figures.small_bars import Bar
from sim.report.words import count, number, percent, ratio, time_ms, token_ms


def decoding_claims_told(found: DecodingClaims) -> tuple[Claim, ...]:
    """Return the claims in the order in which they are told."""
    return (
        _length(found), _fixed(found), _crossover(found), _short(found), _drift(found),
        _levers(found),
    )  # fmt: skip


def _length(found: DecodingClaims) -> Claim:
    series = found.by_length
    each = [y / x for x, y in zip(series.x, series.y, strict=True)]
    return Claim(
        "latency-and-length",
        "One token a pass: latency is linear in the length of the answer",
        f"True. From {count(series.x[0])} to {count(series.x[-1])} tokens a request alone takes"
        f" {time_ms(series.y[0])} to {time_ms(series.y[-1])}: between {token_ms(min(each))} and"
        f" {token_ms(max(each))} a token, whatever the length.",
        _times(series),
    )


def _fixed(found: DecodingClaims) -> Claim:
    fixed, in_step = found.fixed, found.in_step
    longer = fixed.x[-1] / fixed.x[0]
    return Claim(
        "fixed-and-growing-passes",
        "With a fixed number of passes, length would cost nothing",
        f"Not even then. {FIXED_PASSES} passes whatever the length are an idealised schedule that"
        " nobody has shown to hold its quality; but every pass carries the whole answer, and from"
        f" {count(fixed.x[0])} to {count(fixed.x[-1])} tokens ({longer:.0f}×) the time still grows"
        f" {ratio(fixed.growth)}. With a pass for every four tokens, as quality asks, it grows"
        f" {ratio(in_step.growth)}.",
        (*_times(fixed, "fixed, "), *_times(in_step, "growing, ", chief=True)),
    )


def _crossover(found: DecodingClaims) -> Claim:
    plain, blocks, passes = found.plain, found.blocks, found.pass_times
    low, high = found.crossover
    return Claim(
        "memory-bound-and-crossover",
        "Parallel decoding is free while memory sets the pace",
        f"At low batch only. A pass of 16 sequences takes {ratio(passes.y[2] / passes.y[0], 2)} of"
        f" one alone, so blocks give {ratio(blocks.y[0] / plain.y[0])} the throughput of one token"
        f" a pass for one user. Between {count(low)} and {count(high)} users the two cross, and at"
        f" {count(plain.x[-1])} blocks give {ratio(blocks.y[-1] / plain.y[-1], 2)} of it: every"
        " position is computed, kept or not.",
        tuple(
            Bar(f"{count(x)} users", b / p, ratio(b / p, 2), chief=b > p)
            for x, b, p in zip(plain.x, blocks.y, plain.y, strict=True)
        ),
    )


def _short(found: DecodingClaims) -> Claim:
    plain, blocks = found.short_plain, found.short_blocks
    return Claim(
        "long-and-ultra-short-answers",
        "Long answers fit blocks better than ultra-short ones",
        f"True. An answer of {count(plain.x[0])} tokens pays for a whole block of 32:"
        f" {time_ms(blocks.y[0])} against {time_ms(plain.y[0])} one token a pass. At"
        f" {count(plain.x[-1])} tokens it is {time_ms(blocks.y[-1])} against"
        f" {time_ms(plain.y[-1])}.",
        tuple(
            Bar(f"{count(x)} tokens", p / b, ratio(p / b, 2), chief=p > b)
            for x, b, p in zip(plain.x, blocks.y, plain.y, strict=True)
        ),
    )


def _drift(found: DecodingClaims) -> Claim:
    points, even = found.drift.points, found.drift.break_even
    first = points[0]
    where = (
        "It stays ahead however few drafts are accepted."
        if even is None
        else f"It is gone where {percent(even.first_acceptance)} of the first drafts are"
        f" accepted ({number(even.tokens_per_pass)} tokens a pass)."
    )
    return Claim(
        "speculation-and-drift",
        "Speculation loses its gain as the traffic drifts from what its drafter knows",
        f"True. EAGLE-3 with its published acceptance makes 16 users {ratio(first.speed_up, 2)} as"
        f" fast, at {number(first.tokens_per_pass)} tokens a pass. {where} `paretoken drift` says"
        " the same of your scenario.",
        tuple(
            Bar(
                f"acceptance × {point.at:g}", point.speed_up, ratio(point.speed_up, 2),
                chief=point.speed_up > 1,
            )
            for point in points
        ),
    )  # fmt: skip


def _levers(found: DecodingClaims) -> Claim:
    by_name = {lever.what: lever.relative for lever in found.levers}
    return Claim(
        "what-halves-the-cost",
        "Nothing else than halving the answer halves the cost",
        f"Refuted, both ways. Half the answer leaves {percent(by_name['half the answer'], 0)} of"
        " the cost of a request at 64 users: the prompt is computed all the same. Weights and KV"
        f" in FP8 leave {percent(by_name['weights and KV in FP8'], 0)}, and whoever serves 16"
        f" users at a time where 64 would fit pays {ratio(by_name['16 users at once'])}.",
        tuple(
            Bar(lever.what, lever.relative, percent(lever.relative, 0), chief=lever.relative < 1)
            for lever in found.levers
        ),
    )


def _times(series: Series, prefix: str = "", *, chief: bool = False) -> tuple[Bar, ...]:
    return tuple(
        Bar(f"{prefix}{count(x)} tokens", y, time_ms(y), chief)
        for x, y in zip(series.x, series.y, strict=True)
    )
