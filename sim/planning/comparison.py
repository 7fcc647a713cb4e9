"""Several decoding strategies on the same requests: who wins where, by how much, and why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sim.errors import SimError
from sim.metrics import quantities
from sim.metrics.paired import STATISTICS, Difference, Statistic, differences
from sim.planning.strategies import Entry, entries
from sim.quality import UNKNOWN, in_short, scores_of
from sim.records import FloatArray
from sim.run import Outcome, run
from sim.scenario import Scenario

QUANTITIES: Final[dict[str, bool]] = {"ttft": False, "ttlt": False, "user_tokens_per_s": True}
"""What is compared request by request; True: more is better."""


@dataclass(frozen=True, slots=True)
class Work:
    """Why a strategy is as fast as it is."""

    passes_per_request: float
    """Passes that a request takes part in, its prefill included."""
    tokens_per_pass: float
    """Output tokens of a request over those passes."""
    positions_per_pass: float
    """Query positions of all sequences of a pass together."""
    sequences_per_pass: float


@dataclass(frozen=True, slots=True)
class Arm:
    """One strategy: its run, or why there is none."""

    entry: Entry
    outcome: Outcome | None
    refusal: str | None = None
    """What does not go together, in one sentence."""
    work: Work | None = None
    quality: str = UNKNOWN
    """What is published of the answers' quality, in a few words."""
    against: Mapping[str, Mapping[Statistic, Difference]] | None = None
    """Differences to the baseline, by quantity; `None` for the baseline itself."""

    @property
    def compared(self) -> bool:
        """Whether its latencies mean something: it ran, and no queue grew without bound."""
        return self.outcome is not None and self.outcome.metrics.status == "ok"


@dataclass(frozen=True, slots=True)
class Winner:
    """Who is best at one statistic, and who cannot be told from the best."""

    quantity: str
    statistic: Statistic
    best: str
    tied: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer: an arm for each strategy, the baseline first."""

    scenario: Scenario
    arms: tuple[Arm, ...]
    winners: tuple[Winner, ...]
    complete: bool = True
    """False: stopped by the user, with the strategies that were run until then."""

    def arm(self, strategy: str) -> Arm:
        """Return the arm of a strategy, by its id."""
        return next(arm for arm in self.arms if arm.entry.strategy == strategy)

    @property
    def baseline(self) -> Arm:
        """The arm that the others are compared with: the first one that can be compared."""
        return next((arm for arm in self.arms if arm.compared), self.arms[0])


def compare(
    scenario: Scenario,
    strategies: Sequence[Entry] | None = None,
    *,
    on_arm: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Run the scenario under each strategy, with the same arrivals and lengths.

    A strategy that cannot be run here is told of, not left out. `on_arm` is told (done, all).
    Ctrl-C after the second one leaves those that were run (`complete`).
    """
    compared = tuple(strategies) if strategies is not None else entries(scenario)
    arms = list[Arm]()
    try:
        for entry in compared:
            arms.append(_arm(scenario, entry))
            if on_arm is not None:
                on_arm(len(arms), len(compared))
    except KeyboardInterrupt:
        if len(arms) < 2:
            raise
    pairs, base = _Pairs(), next((arm for arm in arms if arm.compared), None)
    if base is not None:
        arms = [
            replace(arm, against=pairs.of(base, arm)) if arm.compared and arm is not base else arm
            for arm in arms
        ]
    winners = _winners(arms, pairs)
    return Comparison(scenario, tuple(arms), winners, complete=len(arms) == len(compared))


def _arm(scenario: Scenario, entry: Entry) -> Arm:
    try:
        outcome = run(scenario.with_decoding(entry.decoding))
    except SimError as error:
        return Arm(entry, None, refusal=str(error))
    scores = scores_of(outcome.scenario, outcome.serving.model)
    return Arm(entry, outcome, work=_work(outcome), quality=in_short(scores))


def _work(outcome: Outcome) -> Work | None:
    leaps, records = outcome.simulation.leaps, outcome.simulation.records
    done = quantities.finished(records)
    passes = float(leaps.passes.sum())
    if not passes or not done.any():
        return None
    sequences = float((leaps.sequences * leaps.passes).sum())
    served = int(records.output_tokens[done].sum())
    per_request = sequences / int(done.sum())
    return Work(
        passes_per_request=per_request,
        tokens_per_pass=served / int(done.sum()) / per_request,
        positions_per_pass=float(leaps.positions.sum()) / passes,
        sequences_per_pass=sequences / passes,
    )


def _columns(outcome: Outcome) -> dict[str, FloatArray]:
    """Return the latencies of the counted requests, NaN for the others, one row a request."""
    records, pipeline = outcome.simulation.records, outcome.scenario.pipeline
    counted = quantities.finished(records)
    counted[: outcome.metrics.warmup_requests] = False
    counted[outcome.simulation.measured :] = False
    columns = {
        "ttft": quantities.ttft_s(records, pipeline),
        "ttlt": quantities.ttlt_s(records, pipeline),
        "user_tokens_per_s": quantities.user_tokens_per_s(records, pipeline),
    }
    nothing = float("nan")
    for column in columns.values():
        column[~counted] = nothing
    return columns


class _Pairs:
    """Differences between any two arms, worked out once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, dict[Statistic, Difference]]] = {}

    def of(self, first: Arm, second: Arm) -> dict[str, dict[Statistic, Difference]]:
        """Return second - first by quantity and statistic; nothing where one did not run."""
        names = first.entry.strategy, second.entry.strategy
        if first.outcome is None or second.outcome is None:
            return {}
        if names not in self._known:
            one, two = _columns(first.outcome), _columns(second.outcome)
            shared = min(len(one["ttft"]), len(two["ttft"]))
            seed = first.outcome.scenario.run.seed
            self._known[names] = {
                name: differences(one[name][:shared], two[name][:shared], seed)
                for name in QUANTITIES
            }
        return self._known[names]


def _winners(arms: Sequence[Arm], pairs: _Pairs) -> tuple[Winner, ...]:
    """Return who is best at each statistic, by the differences to the first arm that ran."""
    running = [arm for arm in arms if arm.compared]
    if len(running) < 2:
        return ()
    found = []
    for quantity, more in QUANTITIES.items():
        # of a speed the high percentiles are those of the luckiest users
        for statistic in STATISTICS[1:2] if more else STATISTICS[1:]:
            sign = 1.0 if more else -1.0
            leads = {0: 0.0}
            for place, arm in enumerate(running[1:], start=1):
                apart = pairs.of(running[0], arm)[quantity].get(statistic)
                if apart is not None:
                    leads[place] = sign * apart.value
            if len(leads) < 2:
                continue
            best = running[max(leads, key=lambda place: leads[place])]
            tied = [
                running[place].entry.strategy
                for place in leads
                if running[place] is not best
                and not pairs.of(best, running[place])[quantity][statistic].clear
            ]
            found.append(Winner(quantity, statistic, best.entry.strategy, tuple(tied)))
    return tuple(found)
