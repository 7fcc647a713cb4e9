"""What the oracles ask of a strategy as a whole: its policy, and the time of a pass."""

from collections.abc import Collection

from sim.cost import ForwardPass, PassLoad
from sim.decoding import Strategy
from sim.engine import draft_pricer
from sim.engine.policies import Mode, build
from tests.engine.counting import draft_s, pass_load, verified
from tests.engine.oracle_job import Job


class Asked:
    """One replica's policy with what it said last; the served model, the drafter, and waiting."""

    def __init__(
        self,
        strategy: Strategy,
        cost: ForwardPass,
        draft_cost: ForwardPass | None,
        max_batched_tokens: int,
    ) -> None:
        self.strategy = strategy
        drafter = draft_pricer(strategy.draft_work, cost, draft_cost)
        self.policy = build(strategy, cost, drafter, max_batched_tokens)
        self.mode: Mode | None = None
        self.decided_for: list[tuple[Job, int]] = []

    def decide(self, batch: Collection[Job]) -> None:
        """Ask the policy where others decode than when it was last asked."""
        decoding = [job for job in batch if job.decoding]
        if self.policy is None or not decoding:
            return
        if self.decided_for == [(job, job.preemptions) for job in decoding]:
            return
        self.decided_for = [(job, job.preemptions) for job in decoding]
        read = sum(
            job.kv() + (job.where()[0] or job.plan.phases[0]).read_extra for job in decoding
        )
        self.mode = self.policy.mode(len(decoding), read)
        for job in decoding:
            job.follow(self.mode)

    def pass_s(
        self,
        load: PassLoad,
        decoding: Collection[Job],
        cost: ForwardPass,
        draft_cost: ForwardPass | None,
    ) -> float:
        """Time of a pass in which these decode, by the costs of a replica or of a lane."""
        mode, draft = self.mode, self.strategy.draft_work
        seconds = cost.pass_s(load if mode is None else verified(load, mode.verified_share))
        if mode is not None and not load.prefill_tokens:
            seconds *= mode.time_share
        if decoding:  # blocks in lockstep: passes in which only the slowest gets on
            going = [(job.kv(), job.where()[0]) for job in decoding]
            alone = pass_load([(kv, phase) for kv, phase in going if phase], [], cost.reaches)
            seconds += (self.strategy.stretch(len(decoding)) - 1) * cost.pass_s(alone)
        off = mode is not None and not mode.drafting
        if draft is None or off or not (load.sequences or draft.prefills):
            return seconds
        if draft.share is not None:
            return seconds + draft.share * draft_s(cost, load, draft)
        assert draft_cost is not None
        return seconds + draft_s(draft_cost, load, draft)
