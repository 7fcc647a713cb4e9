"""What the strategies of a scenario file have in common: keys, and what reports say of them."""

from pydantic import BaseModel, ConfigDict

from sim.decoding.plan import DraftWork


class BaseStrategy(BaseModel):
    """Keys of every strategy, and the plainest answer to every question but those of the plan.

    A strategy adds its `name`, its own keys, and the three functions of `Strategy`: `draw_passes`,
    `plan` and `mean_tokens_per_pass`.
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
    def lossless(self) -> bool:
        """Whether answers are distributed as those of the served model, one token a pass."""
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
    def not_modelled(self) -> tuple[str, ...]:
        """What a reader might take for granted and is not in the passes."""
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
