"""The answer first: one sentence with the number that matters, then one line of context."""

from collections.abc import Iterable
from typing import Final

from sim.model.load import called
from sim.provenance import weakest
from sim.report.course import part_of_course
from sim.report.limit import BOUND, limit_label
from sim.report.load import run_load_label, too_much_label
from sim.report.seeds import seeds_label
from sim.report.words import (
    count,
    deployment_label,
    number,
    percent,
    significant,
    span,
    time_ms,
    usd,
)
from sim.run import Outcome
from sim.units import counted

_TARGETS: Final = {"ttft": "TTFT", "tpot": "TPOT", "max_gap": "longest gap", "ttlt": "TTLT"}


def answer(outcome: Outcome) -> str:
    """Return the answer in one sentence."""
    name = f" of {outcome.scenario.name}"
    if outcome.metrics.status == "overloaded":
        return f"{_overloaded(outcome, name)}."
    if not outcome.metrics.requests.finished:
        return f"{_nothing_served(outcome, name)}."
    bound = None if outcome.usage is None else f"bound by {bound_label(outcome.usage.bound)}"
    attained = _attainment(outcome, interval=True)
    classes, first_token = classes_in_trouble(outcome), _first_token(outcome)
    done = _had_finished(outcome)
    texts = (_part(outcome), done, _refused(outcome), attained, classes, first_token, bound)
    return f"{_joined(_claim(outcome, name), texts)}."


def headline(outcome: Outcome) -> str:
    """Return the answer without what stands below it on a page: intervals, latency, bound."""
    if outcome.metrics.status == "overloaded":
        return _overloaded(outcome, "")
    if not outcome.metrics.requests.finished:
        return _nothing_served(outcome, "")
    attained, classes = _attainment(outcome, interval=False), classes_in_trouble(outcome)
    texts = (_part(outcome), _had_finished(outcome), _refused(outcome), attained, classes)
    return _joined(_claim(outcome, ""), texts)


def context(outcome: Outcome) -> str:
    """Return what was simulated, and how sure the times are, in one line."""
    scenario, metrics = outcome.scenario, outcome.metrics
    requests, model = metrics.requests, called(scenario.model, outcome.serving.model)
    parts = [
        f"{model} {stored_label(scenario.deployment.weights)}",
        scenario.decoding.label,
        f"{counted(requests.offered, 'request')} counted",
        seeds_label(outcome),
        f"times {weakest(outcome.provenance)}",
    ]
    return ", ".join(parts)


def stored_label(weights: str) -> str:
    """Return in which format the weights are served.

    >>> stored_label("fp8"), stored_label("checkpoint")
    ('in fp8', 'as published')
    """
    return "as published" if weights == "checkpoint" else f"in {weights}"


def bound_label(bound: str) -> str:
    """Return what a bound means in words."""
    return BOUND[bound]


def _subject(outcome: Outcome, verbs: tuple[str, str]) -> str:
    deployment = outcome.scenario.deployment
    gpu = outcome.serving.gpu.name
    label = deployment_label(gpu, deployment.replicas, deployment.gpus_per_replica)
    return f"{label} {verbs[0] if deployment.gpus == 1 else verbs[1]}"


def _claim(outcome: Outcome, name: str) -> str:
    """Say who serves what, and for how much; or that the run was too short to say."""
    cost = outcome.cost
    money = "" if cost is None else f" for {usd(cost.usd_per_month)} a month"
    if outcome.metrics.too_short:
        subject = _subject(outcome, ("keeps up", "keep up"))
        asked = f"{run_load_label(outcome)}{name}{money}"
        return f"Too short to tell whether {subject} with {asked}"
    return f"{_subject(outcome, ('serves', 'serve'))} {_load(outcome)}{name}{money}"


def _part(outcome: Outcome) -> str | None:
    """Say that only a part of the course of a rate was run, where that is so."""
    part = part_of_course(outcome)
    return None if part is None else part.left_out


def _had_finished(outcome: Outcome) -> str | None:
    """Return how many had finished when the last request arrived, where that says too little."""
    if not outcome.metrics.too_short:
        return None
    done, offered = outcome.metrics.throughput.requests, outcome.metrics.requests.offered
    return f"{count(done)} of {counted(offered, 'request')} had finished when the last one arrived"


def _nothing_served(outcome: Outcome, name: str) -> str:
    """Say that not one request was answered."""
    counts = outcome.metrics.requests
    verbs, asked = ("serves", "serve"), f"none of the {count(counts.offered)} requests"
    if counts.offered == 1:
        verbs, asked = ("does not serve", "do not serve"), "the one request"
    start = f"{_subject(outcome, verbs)} {asked}{name}"
    if counts.rejected == counts.offered:
        what = "it could" if counts.offered == 1 else "they could"
        return f"{start}: rejected, because {what} never fit (context length or KV pool)"
    return f"{start}: {_refused(outcome)}"


def _joined(claim: str, texts: Iterable[str | None]) -> str:
    parts = [text for text in texts if text]
    return f"{claim}: {'; '.join(parts)}" if parts else claim


def _load(outcome: Outcome) -> str:
    """Return the load with the rate that is reached, where that is news."""
    reached, asked = outcome.metrics.throughput.requests_per_s, run_load_label(outcome)
    if reached is None:
        return asked
    if outcome.scenario.workload.offered_requests_per_s is None:
        return f"{asked} ({number(reached, 2)} requests/s)"
    return f"{number(reached, 2)} of {asked}" if _refused(outcome) else asked


def classes_in_trouble(outcome: Outcome) -> str | None:
    """Name the classes that starve; and, where targets go by class, those that miss theirs."""
    parts: list[str] = []
    classes = outcome.metrics.classes
    if all(one.starves for one in classes):
        return None  # the whole run is overloaded, and says so
    for one in classes:
        asked, attained = outcome.scenario.slo.of(one.name).attainment, one.slo.attainment
        if one.starves:
            parts.append(f"class {one.name} starves")
        elif outcome.scenario.slo.classes and attained is not None and attained < asked:
            parts.append(
                f"class {one.name} has {percent(attained)} inside its targets,"
                f" {percent(asked)} asked"
            )
    return "; ".join(parts) or None


def _refused(outcome: Outcome) -> str | None:
    counts = outcome.metrics.requests
    lost = {"rejected": counts.rejected, "unfinished": counts.unfinished}
    parts = [f"{count(number_of)} {name}" for name, number_of in lost.items() if number_of]
    return f"{' and '.join(parts)} of {counted(counts.offered, 'request')}" if parts else None


def _attainment(outcome: Outcome, *, interval: bool) -> str | None:
    slo = outcome.metrics.slo
    if slo.attainment is None or not slo.by_target:
        return _percentiles(outcome)
    text = f"{percent(slo.attainment)} of requests inside the targets"
    whole = slo.whole_attainment or slo.interval_attainment
    if interval and whole is not None:
        text += f" [{span(whole, percent)}]"
    if not outcome.scenario.slo.classes and slo.attainment < outcome.scenario.slo.attainment:
        text += f", {percent(outcome.scenario.slo.attainment)} asked"
    rest = _percentiles(outcome)
    return f"{text}; {rest}" if rest else text


def target_label(name: str) -> str:
    """Return the name of a target as people write it.

    >>> target_label("ttft_p99"), target_label("max_gap")
    ('TTFT p99', 'longest gap')
    """
    quantity, _, percentile = name.partition("_p")
    label = _TARGETS[quantity]
    return f"{label} p{percentile}" if percentile else label


def _percentiles(outcome: Outcome) -> str | None:
    verdicts = outcome.metrics.slo.on_percentiles
    phrases = {True: "inside the target", False: "outside the target", None: "not known"}
    by_verdict = {
        verdict: [target_label(name) for name, met in verdicts.items() if met is verdict]
        for verdict in phrases
    }
    parts = [f"{', '.join(names)} {phrases[met]}" for met, names in by_verdict.items() if names]
    if by_verdict[None]:
        parts[-1] += " (too few requests to judge)"
    return "; ".join(parts) or None


def _first_token(outcome: Outcome) -> str:
    ttft = outcome.metrics.latency["ttft"]
    if ttft.p99 is None:
        mean = "not known" if ttft.mean is None else f"mean {time_ms(ttft.mean)}"
        return f"TTFT {mean} (too few requests for a p99)"
    text = f"TTFT p99 {time_ms(ttft.p99)}"
    interval = ttft.widest("p99")
    return text if interval is None else f"{text} [{span(interval, time_ms)}]"


def _overloaded(outcome: Outcome, name: str) -> str:
    subject = _subject(outcome, ("cannot sustain", "cannot sustain"))
    sentence = f"Overloaded: {subject} {too_much_label(outcome)}{name}"
    classes, sustained = classes_in_trouble(outcome), outcome.metrics.sustainable_requests_per_s
    sentence = sentence if classes is None else f"{sentence}: {classes}"
    sentence, one = sentence + _front_end(outcome), outcome.scenario.deployment.gpus == 1
    for text in (limit_label(outcome), _part(outcome)):
        sentence = sentence if text is None else f"{sentence}; {text}"
    if sustained is None:
        return f"{sentence}; too few requests to say what {'it' if one else 'they'} can sustain"
    pronoun = "it sustains" if one else "they sustain"
    return f"{sentence}; {pronoun} about {number(sustained, 2)}"


def _front_end(outcome: Outcome) -> str:
    """Name the front end where it is what falls behind."""
    habits = outcome.serving.limits.habits
    if not outcome.metrics.front_end_behind or habits is None:
        return ""
    rate = significant(1 / habits.front_end_s_per_chunk)
    whose = "the front end" if outcome.scenario.deployment.replicas == 1 else "front ends"
    return f": {whose} ({rate} tokens/s) cannot hand the answers out as fast"
