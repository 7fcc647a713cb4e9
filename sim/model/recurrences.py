"""Builders of recurrent mixers: from the shape of a layer to its counts.

FLOP per token count the update and the read of the state and the short convolution, beyond the
projections; a multiply-add is two. With `d` and `e` the sides of a head's state:

- gated delta rule (Yang et al., arXiv:2412.06464, eq. 10): decay d·e, read of the old value
  2·d·e, rank-one update 2·d·e, read 2·d·e, so 7·d·e a head.
- Mamba-2 (Dao & Gu, arXiv:2405.21060): decay d·e, outer product and add 2·d·e, read 2·d·e: 5·d·e.
- Lightning attention (Qin et al., arXiv:2401.04658): the same 5·d·e.
- Mamba-1 (Gu & Dao, arXiv:2312.00752): 9 per element of the state, as its authors count the
  selective scan (state-spaces/mamba, issue 110): the decay is an exponential per element.
- a depthwise convolution of k taps over c channels: 2·k·c.
"""

from sim.model.mixers import Recurrent


def gated_delta(
    hidden_size: int,
    *,
    key_heads: int,
    value_heads: int,
    key_dim: int,
    value_dim: int,
    conv_kernel: int,
) -> Recurrent:
    """Gated DeltaNet as in Qwen3-Next and Qwen3.5: q, k, v, z, beta and alpha; conv over q, k, v.

    Beside the matrices: convolution, a decay and a step bias per value head, one gated norm.
    """
    keys, values = key_heads * key_dim, value_heads * value_dim
    channels = 2 * keys + values
    state = value_heads * key_dim * value_dim
    return Recurrent(
        kind="gated_delta",
        input_elements=hidden_size * (2 * keys + 2 * values + 2 * value_heads),
        output_elements=values * hidden_size,
        other_elements=channels * conv_kernel + 2 * value_heads + value_dim,
        state_elements=state,
        conv_state_elements=channels * (conv_kernel - 1),
        flop_per_token=7.0 * state + 2.0 * conv_kernel * channels,
    )


def mamba2(
    hidden_size: int,
    *,
    heads: int,
    head_dim: int,
    groups: int,
    state_size: int,
    conv_kernel: int,
    conv_bias: bool = True,
    projection_bias: bool = False,
) -> Recurrent:
    """Mamba-2 as in Nemotron-H: one input projection (z, x, B, C, dt), conv over x, B, C."""
    inner = heads * head_dim
    channels = inner + 2 * groups * state_size
    width = inner + channels + heads
    state = inner * state_size
    biases = (channels if conv_bias else 0) + (width + hidden_size if projection_bias else 0)
    return Recurrent(
        kind="mamba2",
        input_elements=hidden_size * width,
        output_elements=inner * hidden_size,
        other_elements=channels * conv_kernel + 3 * heads + inner + biases,
        state_elements=state,
        conv_state_elements=channels * (conv_kernel - 1),
        flop_per_token=5.0 * state + 2.0 * conv_kernel * channels,
    )


def mamba1(
    hidden_size: int,
    *,
    inner_size: int,
    state_size: int,
    dt_rank: int,
    conv_kernel: int,
    conv_bias: bool = True,
    projection_bias: bool = False,
    inner_norms: bool = True,
) -> Recurrent:
    """Mamba-1 as in Jamba, which adds norms of dt, B and C (`inner_norms`)."""
    state = inner_size * state_size
    small = inner_size * (dt_rank + 2 * state_size) + dt_rank * inner_size
    biases = inner_size + (inner_size if conv_bias else 0)
    if projection_bias:
        biases += 2 * inner_size + hidden_size
    norms = dt_rank + 2 * state_size if inner_norms else 0
    return Recurrent(
        kind="mamba1",
        input_elements=hidden_size * 2 * inner_size,
        output_elements=inner_size * hidden_size,
        inner_elements=small,
        other_elements=inner_size * conv_kernel + state + inner_size + biases + norms,
        state_elements=state,
        conv_state_elements=inner_size * (conv_kernel - 1),
        flop_per_token=9.0 * state + 2.0 * conv_kernel * inner_size,
    )


def lightning(hidden_size: int, *, heads: int, head_dim: int) -> Recurrent:
    """Lightning attention as in MiniMax-01: q, k, v, an output gate, a norm; decay is fixed."""
    width = heads * head_dim
    state = heads * head_dim * head_dim
    return Recurrent(
        kind="lightning",
        input_elements=hidden_size * 4 * width,
        output_elements=width * hidden_size,
        other_elements=width,
        state_elements=state,
        conv_state_elements=0,
        flop_per_token=5.0 * state,
    )
