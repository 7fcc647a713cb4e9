"""`docs/claims.md`: what the same deployment looks like, measured in another way."""

from collections.abc import Mapping
from typing import Any, Final

from sim.planning.claims import Claims, Measured
from sim.report.claim import Claim
from sim.report.decoding_claims import decoding_claims_told
from sim.report.document import scenario_document
from sim.report.figures.small_bars import Bar, small_bars_svg
from sim.report.words import number, percent, ratio, time_ms
from sim.units import MS_PER_S

PAGE: Final = "claims.md"
DECODING: Final = """\
# What is said of decoding

Llama-3.1-8B in bf16 on one H100, prompts of 512 tokens and answers of 256 unless the figure says
otherwise. Blocks are a what-if: 32 tokens in 8 passes and one to commit them. Ratios above 1 are
coloured.
"""
FIGURES: Final = "claims"
"""Folder of the figures, beside the page."""


def claims_files(found: Claims) -> dict[str, str]:
    """Return the page and its figures by file name, as they stand in `docs`."""
    told = claims_told(found)
    files = {PAGE: _page(found, told)}
    files |= {
        f"{FIGURES}/{claim.key}.svg": small_bars_svg(claim.title, claim.bars) for claim in told
    }
    return files


def claims_document(found: Claims) -> dict[str, Any]:
    """Return the figures of all claims as plain values; ms, requests/s and shares."""
    ways = {"closed": found.closed, "open": found.open}
    ways |= {"fixed": found.fixed, "spread": found.spread}
    return {
        "scenario": scenario_document(found.scenario),
        "claims": [{"claim": claim.key, "text": claim.text} for claim in claims_told(found)],
        "measured": {name: _figures(way) for name, way in ways.items()},
        "cold": {
            "ready_s": found.cold.ready.seconds,
            "first_ttft_ms": found.cold.first_ttft_s * MS_PER_S,
        },
    }


def _figures(way: Measured) -> Mapping[str, Any]:
    ttft = {
        f"ttft_{name}_ms": way.ttft_s(name) * MS_PER_S for name in ("mean", "p50", "p90", "p99")
    }
    return {
        "label": way.label,
        "requests_per_s": way.requests_per_s,
        "attainment": way.inside_targets,
        **ttft,
    }


def claims_told(found: Claims) -> tuple[Claim, ...]:
    """Return the claims in the order in which they are told."""
    measured = (_loops(found), _mean(found), _lengths(found), _cold(found))
    return (*measured, *decoding_claims_told(found.decoding))


def _loops(found: Claims) -> Claim:
    closed, opened = found.closed, found.open
    more = ratio(opened.ttft_s("p99") / closed.ttft_s("p99"))
    return Claim(
        "open-and-closed-loop",
        "Users of a benchmark wait for each other; yours do not",
        f"In a closed loop of 64 users the deployment serves {number(closed.requests_per_s)}"
        f" requests/s with a TTFT p99 of {time_ms(closed.ttft_s('p99'))}, and"
        f" {percent(closed.inside_targets)} of the requests are inside the targets. Asked for 90 %"
        f" of that rate by users who come when they like, its TTFT p99 is"
        f" {time_ms(opened.ttft_s('p99'))} ({more}), and {percent(opened.inside_targets)} are"
        " inside. A closed loop slows down with the server, so its queue cannot grow.",
        (_p99(closed), _p99(opened, chief=True)),
    )


def _mean(found: Claims) -> Claim:
    opened = found.open
    bars = tuple(
        Bar(f"TTFT {name}", opened.ttft_s(name), time_ms(opened.ttft_s(name)), name == "p99")
        for name in ("p50", "mean", "p90", "p99")
    )
    more = ratio(opened.ttft_s("p99") / opened.ttft_s("mean"))
    return Claim(
        "mean-and-p99",
        "Nobody waits for the mean",
        f"In the same open loop the mean TTFT is {time_ms(opened.ttft_s('mean'))} and half of the"
        f" requests get their first token within {time_ms(opened.ttft_s('p50'))}. One in a hundred"
        f" waits {time_ms(opened.ttft_s('p99'))} or more: {more} the mean.",
        bars,
    )


def _lengths(found: Claims) -> Claim:
    fixed, spread = found.fixed, found.spread
    more = ratio(spread.ttft_s("p99") / fixed.ttft_s("p99"))
    prompt, answer = found.scenario.workload.mean_tokens()
    return Claim(
        "fixed-and-spread-lengths",
        "Prompts of equal length flatter the tail",
        f"Requests at even distances, all of {prompt:,.0f} input and {answer:,.0f} output tokens:"
        f" TTFT p99 {time_ms(fixed.ttft_s('p99'))}. The same rate and the same means, but lengths"
        f" spread as in real traffic: {time_ms(spread.ttft_s('p99'))} ({more}).",
        (_p99(fixed), _p99(spread, chief=True)),
    )


def _cold(found: Claims) -> Claim:
    cold = found.cold
    longest = max(cold.phases, key=lambda phase: phase.seconds)
    bars = [Bar(one.name, one.seconds, time_ms(one.seconds)) for one in cold.phases]
    warm_s = found.open.ttft_s("p99")
    warm = time_ms(warm_s)
    bars.append(Bar("TTFT p99 when warm", warm_s, warm, chief=True))
    return Claim(
        "warm-and-cold",
        "A benchmark begins when the server is warm",
        f"From nothing the deployment is ready after {time_ms(cold.ready.seconds)}"
        f" (somewhere from {time_ms(cold.ready.low_s)} to {time_ms(cold.ready.high_s)}),"
        f" {time_ms(longest.seconds)} of it for {longest.name}; whoever asks first waits that"
        f" long. Warm, one in a hundred waits {warm} or more. The phases are assumptions with"
        " their sources: `paretoken coldstart` shows them, `cold_start:` in a scenario changes"
        " them.",
        tuple(bars),
    )


def _p99(way: Measured, *, chief: bool = False) -> Bar:
    return Bar(way.label, way.ttft_s("p99"), time_ms(way.ttft_s("p99")), chief)


def _page(found: Claims, told: tuple[Claim, ...]) -> str:
    """Return the page; figures are named relative to it."""
    scenario = found.scenario
    head = f"""\
# The story a benchmark tells

One deployment, `{scenario.name}`: {scenario.description}.
Model, machine and engine are the same in every figure below; only the way of measuring differs.
`paretoken claims` measures anew, and `paretoken claims --out docs` writes this page: a test holds
every number in it against the simulator.
"""
    parts = [
        f"## {claim.title}\n\n{claim.text}\n\n![{claim.title}]({FIGURES}/{claim.key}.svg)\n"
        for claim in told
    ]
    decoding = len(decoding_claims_told(found.decoding))
    return "\n".join([head, *parts[:-decoding], DECODING, *parts[-decoding:]])
