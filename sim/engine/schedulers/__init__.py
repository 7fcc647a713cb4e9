"""Schedulers: what goes into the next pass of a replica. One file each, and one name here."""

from typing import Annotated

from pydantic import Field

from sim.engine.schedulers.base import Order, Scheduler, SchedulerSettings
from sim.engine.schedulers.chunked_prefill import ChunkedPrefill, ChunkedPrefillSettings
from sim.engine.schedulers.decode_first import DecodeFirstSettings
from sim.engine.schedulers.prefill_first import PrefillFirstSettings
from sim.engine.schedulers.static_batching import StaticBatchingSettings

AnyScheduler = Annotated[
    ChunkedPrefillSettings | PrefillFirstSettings | DecodeFirstSettings | StaticBatchingSettings,
    Field(discriminator="kind"),
]
"""Every scheduler that a scenario may name."""

__all__ = [
    "AnyScheduler",
    "ChunkedPrefill",
    "ChunkedPrefillSettings",
    "DecodeFirstSettings",
    "Order",
    "PrefillFirstSettings",
    "Scheduler",
    "SchedulerSettings",
    "StaticBatchingSettings",
]
