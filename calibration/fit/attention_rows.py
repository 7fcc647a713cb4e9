"""The shapes of attention kernels as arrays, and what they read and multiply."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.fit.problem import groups_of
from calibration.timings import Timings
from sim.cost.work import ACTIVATION_BYTES
from sim.precision import BYTES_PER_WEIGHT, Precision
from sim.records import FloatArray

MOST_HEADS_PER_KV: Final = 16
"""No public model has more; beyond, kernels fall back on others (20 times slower on some)."""
HEAD_DIMS: Final = (64, 128, 256)
"""Other widths run on kernels of their own, and few models have them."""
LATENT_WIDTH: Final = 576.0
"""What a token keeps in the cache of latent attention: 512 + 64."""


@dataclass(frozen=True, slots=True)
class AttentionRows:
    """Rows of one attention kernel."""

    sequences: FloatArray
    queries: FloatArray
    context: FloatArray
    heads: FloatArray
    kv_heads: FloatArray
    key: FloatArray
    value: FloatArray
    latent: bool

    @classmethod
    def of(cls, rows: Timings, *, latent: bool) -> "AttentionRows":
        """Read the shapes."""
        kv_heads = rows.number("kv_heads")
        return cls(
            rows.number("sequences"),
            rows.number("query_tokens"),
            rows.number("context_tokens"),
            rows.number("heads"),
            np.where(np.isnan(kv_heads), 1.0, kv_heads),
            rows.number("head_dim"),
            rows.number("value_dim"),
            latent,
        )

    @property
    def layout(self) -> dict[str, FloatArray]:
        """How heads share keys, and how wide they are."""
        return {"heads_per_kv": self.heads / self.kv_heads, "head_dim": self.key}

    @property
    def pairs(self) -> FloatArray:
        """Query x key pairs of all sequences, causal."""
        before = self.context - self.queries
        return self.sequences * (self.queries * before + self.queries * (self.queries + 1.0) / 2.0)

    @property
    def flop(self) -> FloatArray:
        """2 heads (d_qk + d_v) for each pair."""
        return 2.0 * self.pairs * self.heads * (self.key + self.value)

    def kv_bytes(self, kv: Precision) -> FloatArray:
        """KV that is read once, B; a latent is key and value at once."""
        width = LATENT_WIDTH if self.latent else self.kv_heads * (self.key + self.value)
        return self.sequences * self.context * width * BYTES_PER_WEIGHT[kv]

    @property
    def query_bytes(self) -> FloatArray:
        """Queries read and outputs written, B."""
        width = self.heads * (self.key + self.value)
        return self.sequences * self.queries * width * ACTIVATION_BYTES

    @property
    def groups(self) -> NDArray[np.intp]:
        """Head layouts; of latent attention, where there are eight, heads and batch."""
        if self.latent:
            return groups_of(self.heads, self.sequences)
        return groups_of(self.heads, self.kv_heads, self.key)


def usual_layouts(rows: Timings) -> Timings:
    """Return the rows of head layouts that models have; all where there are no others."""
    kept = rows.number("heads") <= MOST_HEADS_PER_KV * rows.number("kv_heads")
    kept &= np.isin(rows.number("head_dim"), HEAD_DIMS)
    return rows.keep(kept) if kept.any() else rows


def whole(rows: Timings) -> Timings:
    """Return the kernels that look back all the way."""
    return rows.keep(np.isnan(rows.number("window_tokens")))
