"""Prompts go first: whenever one waits and fits, a pass of prompts only (SGLang's default)."""

from typing import Literal

from sim.engine.schedulers.base import Scheduler, SchedulerSettings
from sim.engine.schedulers.rules import Rules
from sim.engine.schedulers.separate import SeparatePasses


class PrefillFirstSettings(SchedulerSettings):
    """Let prompts in as soon as they fit; who decodes waits for them."""

    kind: Literal["prefill_first"] = "prefill_first"

    def scheduler(
        self, max_sequences: int, max_batched_tokens: int, rules: Rules | None
    ) -> Scheduler:
        """Return the scheduler of one replica."""
        return SeparatePasses(max_sequences, max_batched_tokens, rules)
