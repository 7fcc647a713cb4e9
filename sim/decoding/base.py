"""What the strategies of a scenario file have in common: keys, and what reports say of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict

from sim.decoding.plan import DraftWork
from sim.records import IntArray


class BaseStrategy(BaseModel):
    """Keys of every strategy, and the plainest answer to every question but those of the plan.

    A strategy adds its `name`, its own keys, and three functions: `draw_passes`, `plan` and
    `mean_tokens_per_pass` (or `mean_passes`, where that depends on the length of the answer).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    """The strategy's id; each strategy narrows it to its own."""
    model: str | None = None
    """Serve this model for this strategy instead of the scenario's."""
    what_if: bool = False
    """Allow a model that was not trained for this strategy; the result is labelled assumed."""

    @property
    def draft_work(self) -> DraftWork | None:
        """Drafter work that goes with every pass; here none."""
        return None

    @property
    def trained_for(self) -> str:
        """Family of models that decode so: autoregressive, diffusion or block_diffusion."""
        return "autoregressive"

    @property
    def drafting(self) -> Any:  # noqa: ANN401  # a union with tags is no type
        """What a drafter computes, if there is one; here none."""
        return None

    def among(self, mix: Mapping[str, float] | None) -> Self:  # noqa: ARG002
        """Return the same for a workload of so many shares of domains; here it is all the same."""
        return self

    def relative_to(self, folder: Path) -> Self:  # noqa: ARG002
        """Return the same with relative paths of files from `folder`; here there are none."""
        return self

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw how many passes each answer takes after its prefill."""
        raise NotImplementedError

    def draw_passes_of(
        self,
        output_tokens: IntArray,
        domains: Sequence[str],  # noqa: ARG002
        rows: IntArray,  # noqa: ARG002
        rng: np.random.Generator,
    ) -> IntArray:
        """The same, of requests whose domains are known (`domains[rows[i]]`): no matter here."""
        return self.draw_passes(output_tokens, rng)

    @property
    def lossless(self) -> bool:
        """Whether answers are distributed as those of the served model, one token a pass."""
        return False

    @property
    def prefix_reusable(self) -> bool:
        """Whether the KV of a prompt depends on nothing after it, so that others may use it."""
        return False

    @property
    def assumed(self) -> bool:
        """Whether the passes of an answer are assumed: true unless they follow by definition."""
        return True

    @property
    def basis(self) -> str:
        """What the passes of an answer rest on, for the list of origins."""
        return "passes of an answer: given in the scenario, no source"

    @property
    def quality_settings(self) -> dict[str, float | str | None]:
        """Settings on which answers depend, by the names of the tables of quality."""
        return {}

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """What a reader might take for granted and is not in the passes."""
        return ()

    def cautions(self, output_tokens: float) -> tuple[str, ...]:  # noqa: ARG002
        """Return what is odd about the settings, for answers of so many tokens on average."""
        return ()

    @property
    def knobs(self) -> str:
        """The settings that make it what it is, for people; empty where there are none."""
        return ""

    @property
    def label(self) -> str:
        """The strategy with its knobs, for people."""
        words = filter(None, [self.knobs, "what-if" if self.what_if else ""])
        inside = ", ".join(words)
        name = self.name.replace("_", " ")
        return f"{name} ({inside})" if inside else name

    @property
    def short_knobs(self) -> str:
        """The same in a few words, to tell two of a kind apart in ids and figures."""
        return self.knobs

    def mean_tokens_per_pass(self) -> float:
        """Return the tokens that a pass yields in the long run."""
        raise NotImplementedError

    def mean_passes(self, output_tokens: float) -> float:
        """Return the passes after the prefill that an answer of this length takes on average."""
        return output_tokens / self.mean_tokens_per_pass()

    def logits_held(self, output_tokens: float) -> int:  # noqa: ARG002
        """Return the positions of one sequence whose logits a pass holds in memory at once."""
        return 1

    def guesses_kept(self, output_tokens: float) -> int:  # noqa: ARG002
        """Return the positions of one sequence whose logits are kept from pass to pass."""
        return 0

    def stretch(self, sequences: int) -> float:  # noqa: ARG002
        """Return by what factor passes multiply where so many sequences wait for each other."""
        return 1.0
