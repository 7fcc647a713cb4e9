"""A request inside a replica: the engine's own mutable record of it."""

from math import ceil, nan

from sim.decoding import Phase, Plan
from sim.units import TOKEN_ROUNDING


class Sequence:
    """One admitted or waiting request.

    While it decodes, its KV tokens after pass n of the replica are `kv + growth * (n -
    joined)`, so nothing in here is touched from one pass to the next.
    """

    __slots__ = (
        "admitted",
        "arrival_s",
        "chunk",
        "computed",
        "done",
        "held_tokens",
        "joined",
        "kv",
        "phase",
        "phase_index",
        "phases",
        "plan",
        "preempted_s",
        "preemptions",
        "prefill_yields",
        "priority",
        "request_class",
        "row",
        "serial",
        "shared",
        "since_s",
        "swapped",
        "target",
        "user",
    )

    def __init__(self, row: int, user: int, arrival_s: float, plan: Plan) -> None:
        self.row, self.user, self.arrival_s, self.plan = row, user, arrival_s, plan
        target, self.prefill_yields, phases = plan
        self.serial = -1
        """Order of admission, renewed at each; the newest is preempted first."""
        self.admitted = False
        self.target = target
        """Tokens to compute before it (again) decodes."""
        self.computed = 0
        self.chunk = 0
        """Prompt tokens in the pass in flight."""
        self.shared = 0
        """Tokens at its beginning that lie in blocks which others may use too."""
        self.kv = float(target)
        self.joined = -1
        """Replica pass count at which it began to decode; -1 while it does not."""
        self.phase_index, self.phases = 0, phases
        self.phase: Phase | None = phases[0] if phases else None
        self.done = 0
        """Passes of the current phase that are behind it, as of `joined`."""
        self.preemptions = 0
        self.preempted_s = -1.0
        self.priority = self.request_class = 0
        self.since_s = nan
        """When the token before its stint of decoding was seen, where that is kept."""
        self.held_tokens = 0.0
        """Made before the current phase and not handed out yet, where answers go out in chunks."""
        self.swapped = False
        """Its KV waits in the memory of the host."""

    def kv_at(self, passes: int) -> float:
        """KV tokens held after `passes` passes of the replica."""
        if self.phase is None or self.joined < 0:
            return self.kv
        return self.kv + self.phase.kv_growth * (passes - self.joined)

    def slots_at(self, passes: int) -> float:
        """KV tokens that need a place in the pass that starts after `passes` passes."""
        phase = self.phase
        if phase is None:  # pragma: no cover - a sequence that decodes has a phase
            raise AssertionError(self.row)
        return self.kv + phase.kv_growth * (passes - self.joined) + phase.slots_extra

    def suspend(self, passes: int) -> None:
        """Drop the KV; what was committed will be recomputed as a prompt, as vLLM does.

        Where a prefill yields a token, the recomputation computes the last token too and
        so does the work of one pass: that pass is counted when the prefill ends.
        """
        if self.joined >= 0:
            self.done += passes - self.joined
            self.kv = self.kv_at(passes)
            self.joined = -1
            self.target = ceil(self.kv - TOKEN_ROUNDING) + int(self.prefill_yields)
        self.computed = self.chunk = 0
        self.preemptions += 1

    def swap_out(self, passes: int) -> None:
        """Leave the batch with the KV kept on the host: it will go on where it stopped."""
        self.done += passes - self.joined
        self.kv = self.kv_at(passes)
        self.joined = -1
        self.target = 0
        self.swapped = True
        self.preemptions += 1
