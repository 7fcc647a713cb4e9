"""One lane of a replica: its own queue, batch and KV pool, on a clock that it does not own."""

from copy import copy

from sim.cost import PassLoad, Reads
from sim.cost.lane import LanePass, StageLoad
from sim.engine.drafting import DraftPricer
from sim.engine.leap_log import log_passes
from sim.engine.policies.lockstep import LockstepPricer
from sim.engine.pricing import Decode, Pricer, Prompt
from sim.engine.replica import Replica
from sim.engine.sequence import Sequence


class LanePricer(Pricer):
    """Remembers no prompts: their time depends on the other ranks too."""

    cost: LanePass

    def __init__(self, cost: LanePass, drafter: DraftPricer | None) -> None:
        # a drafter may price with the same object, and the waits are those of the served model
        super().__init__(copy(cost), drafter)

    def _apart(
        self, decode: Decode, prompt: Prompt, capped: Reads, prompt_capped: Reads
    ) -> tuple[float, float, float]:
        none = self._no_reads
        load = PassLoad(*decode, *prompt, capped if decode[0] else none, prompt_capped)
        self.cost.note_waits(load)
        return super()._apart(decode, prompt, capped, prompt_capped)

    def _alone_s(self, prompt: Prompt, prompt_capped: Reads) -> float:
        return self.cost.seconds(0, 0, 0.0, 0.0, 0.0, *prompt, self._no_reads, prompt_capped)


class LockstepLanePricer(LockstepPricer, LanePricer):
    """Blocks of one lane in lockstep."""


class Lane(Replica):
    """The sequences of one attention-data rank in one microbatch.

    It decides like a replica what goes into its next pass; when that ends is up to the crew of
    lanes that share the GPUs.
    """

    pricer: LanePricer
    untried = False
    """Something may be admitted in the next pass that could not be in the last."""
    steps = 0
    """Passes until the lane must decide anew, the one in flight included."""
    stage_s = stage_slope_s = 0.0
    """Time of the pass in flight on the slowest stage, and how much longer each later one is."""
    pass_s = pass_slope_s = 0.0
    """The same through all stages, with nothing else in the pipeline."""

    @property
    def outstanding(self) -> int:
        """Requests that wait or run here."""
        return len(self.waiting) + len(self.running)

    @property
    def tokens(self) -> int:
        """Query positions of the pass that was decided on."""
        decoding = self.beside if self.prefilling else self.batch
        return decoding.positions + sum(sequence.chunk for sequence in self.prefilling)

    @property
    def _stands_still(self) -> bool:
        """Whether the pass holds prompts only, while the decode batch stands still."""
        return bool(self.prefilling) and self.scheduler.separate

    def take(self, sequence: Sequence) -> None:
        """Queue a request."""
        self.waiting.append(sequence)
        self.untried = True

    def decide(self, now: float) -> None:
        """Choose what goes into the next pass."""
        self.now_s, self.untried = now, False
        if self.policy is not None and self.batch.members:
            self.follow(self.policy, self._leap)
        if self.waiting or self.prefilling or self.pool.room(self.batch) < 0:
            self.untried = self.scheduler.fill(self)

    def price(self, cost: LanePass) -> None:
        """Work out how long the pass takes, and for how many passes this goes on alike."""
        batch, leap = self.batch, self._leap
        if not self.leaping:
            batch.recount(self.passes)
        if self.prefilling:
            batch = self.beside
            self.pricer.mixed(batch, self.prefilling, leap)
            steps = 1
        else:
            self.pricer.decode(batch, leap)
            steps = min(batch.next_breakpoint() - self.passes, leap.limit)
            steps = self.pool.passes_that_fit(batch, self.passes, steps)
        if self.extra_s:
            self.add_extra(leap)
            steps = 1
        if self.horizon:
            steps, self.horizon = min(steps, self.horizon), 0
        self.pass_s, self.pass_slope_s = leap.first_s, leap.slope_s
        load = StageLoad(
            sequences=len(batch.members) + leap.prefill_sequences,
            logits=batch.logit_positions + leap.prefill_sequences,
            tokens=self.tokens,
            prompts=leap.prefill_sequences,
        )
        stage = cost.stage(leap.first_s, leap.slope_s, load, self.pricer.cost.waits)
        self.stage_s, self.stage_slope_s, limit = stage
        self.steps = min(steps, limit)

    def went_by(self, passes: int, start_s: float, first_s: float, slope_s: float) -> None:
        """Write down like passes that are over, and advance the batch by them."""
        leap, batch = self._leap, self.beside if self.prefilling else self.batch
        # who waits for the others is billed alike
        prefill_s = leap.prefill_s * first_s / leap.first_s
        times = (start_s, first_s, slope_s, passes, prefill_s)
        log_passes(self.log, self.index, batch, leap, times)
        if not self._stands_still:
            self.passes += passes
            self.batch.advance(passes)
        self.steps -= passes
        self.stage_s += passes * self.stage_slope_s
        self.pass_s += passes * self.pass_slope_s
        leap.draft_s += passes * leap.draft_slope_s

    def settle(self, now: float) -> None:
        """See to what the end of a pass brings: prompts go on, phases end, requests leave."""
        self._leap.passes = int(self._stands_still)  # the others are counted already
        self._pass_by(now)
