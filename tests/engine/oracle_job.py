"""One request of the oracle, and what becomes of it pass by pass."""

from dataclasses import dataclass, field
from math import ceil, nan

from sim.decoding import Phase, Plan


@dataclass(eq=False)
class Job:
    """One request and what became of it."""

    row: int
    plan: Plan
    arrival_s: float
    user: int
    server: int = -1
    done: int = 0  # passes behind it, over all phases
    to_compute: int = 0
    computed: int = 0
    chunk: int = 0
    decoding: bool = False
    admitted_s: float = nan
    seen_s: list[float] = field(default_factory=list)  # when each visible chunk came
    last_token_s: float = nan
    preemptions: int = 0
    rejected: bool = False
    names: list[int] = field(default_factory=list)  # of its blocks that others may share
    shared: list[int] = field(default_factory=list)  # those that it uses now
    cached: int = 0  # tokens that it found when it was first admitted

    def where(self) -> tuple[Phase | None, int]:
        """Phase of the next pass, and passes of it that are behind."""
        before = self.done
        for phase in self.plan.phases:
            if before < phase.passes:
                return phase, before
            before -= phase.passes
        return None, 0

    def kv(self) -> float:
        tokens, left = float(self.plan.prefill_tokens), self.done
        for phase in self.plan.phases:
            tokens += phase.kv_growth * min(left, phase.passes)
            left -= min(left, phase.passes)
        return tokens

    def kv_slots(self) -> float:
        phase, _ = self.where()
        return (
            self.kv() + phase.slots_extra
            if self.decoding and phase
            else self.computed + self.chunk
        )

    def positions(self) -> int:
        phase, _ = self.where()
        return phase.positions if phase else 0

    def step(self, now: float) -> None:
        phase, before = self.where()
        assert phase is not None
        self.done += 1
        last = before + 1 == phase.passes
        if phase.visible_tokens and ((before + 1) % phase.chunk_passes == 0 or last):
            self.seen_s.append(now)

    def drop_kv(self) -> None:
        """Forget the cache; what was committed must be computed again."""
        if self.decoding:
            self.to_compute = ceil(self.kv() - 1e-6) + self.plan.prefill_yields
        self.decoding, self.computed, self.chunk = False, 0, 0
        self.preemptions += 1
