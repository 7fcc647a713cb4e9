"""What depends on the batch: when to speculate, and how many drafts to verify.

To add one: its settings in `sim.decoding.policies`, a file beside these, and its line in `build`.
"""

from sim.cost import ForwardPass
from sim.decoding import Adaptive, OffAbove, Strategy
from sim.engine.drafting import DraftPricer
from sim.engine.policies.adaptive import AdaptiveVerification
from sim.engine.policies.base import Mode, Policy, adopt
from sim.engine.policies.off_above import OffAboveBatch

__all__ = ["Mode", "Policy", "adopt", "build"]


def build(
    strategy: Strategy, cost: ForwardPass, drafter: DraftPricer | None, max_batched_tokens: int
) -> Policy | None:
    """Return the policy of a strategy; None where it does the same whatever the batch."""
    settings = getattr(strategy, "policy", None)
    match settings:
        case OffAbove():
            return OffAboveBatch(
                settings, strategy.plan(1, 2, 1).peak_positions, max_batched_tokens
            )
        case Adaptive():
            survival = _survival(strategy)
            return AdaptiveVerification(settings, survival, cost, drafter, max_batched_tokens)
        case _:
            return None


def _survival(strategy: Strategy) -> tuple[float, ...]:
    """Return survival by position over all domains of the workload."""
    mean: tuple[float, ...] = strategy.mean_survival()  # type: ignore[attr-defined]
    return mean
