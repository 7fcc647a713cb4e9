"""From counted work to seconds: operations, passes, collectives, memory, and the ridge."""

from sim.cost.attention import NO_LIMIT
from sim.cost.dense import STATE_BYTES
from sim.cost.drafter import DraftMemory
from sim.cost.forward_pass import ForwardPass
from sim.cost.kv_shape import KvShape
from sim.cost.layout import unshared_heads
from sim.cost.memory import MemoryPlan, draft_memory, plan_memory
from sim.cost.operation import Bound, Operation
from sim.cost.pass_load import PassLoad, Reads
from sim.cost.quick import QuickPass, quick_pass
from sim.cost.ridge import ridge_tokens_per_pass
from sim.cost.typical import even_load, even_prompt
from sim.cost.usage import Usage, usage, usage_of_all

__all__ = [
    "NO_LIMIT",
    "STATE_BYTES",
    "Bound",
    "DraftMemory",
    "ForwardPass",
    "KvShape",
    "MemoryPlan",
    "Operation",
    "PassLoad",
    "QuickPass",
    "Reads",
    "Usage",
    "draft_memory",
    "even_load",
    "even_prompt",
    "plan_memory",
    "quick_pass",
    "ridge_tokens_per_pass",
    "unshared_heads",
    "usage",
    "usage_of_all",
]
