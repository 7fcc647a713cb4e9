"""Schedulers: what goes into the next pass of a replica."""

from sim.engine.schedulers.chunked_prefill import ChunkedPrefill

__all__ = ["ChunkedPrefill"]
