"""Passes of one lane with one kind of attention: the usual case, in as few operations as can be.

The engine asks for these times at every boundary. They are those of `ForwardPass.seconds` and
`ForwardPass.line`, to the bit; only what they have in common is worked out once. A decode pass is
`beside + (fixed + max(KV read, pairs))` with rates that hang on its size alone, and of a pass
that holds prompts, the prompts alone and the decode part alone share the attention with it.
"""

from collections.abc import Callable
from typing import NamedTuple

from sim.cost.attention import NO_LIMIT, Rates
from sim.cost.forward_pass import ForwardPass

_MOST_REMEMBERED = 1 << 16
Line = Callable[[int, int, float, float, float, float, float], tuple[float, float, int]]
Mixed = Callable[
    [int, int, float, float, float, int, int, float, float], tuple[float, float, float]
]

_Prompts = Callable[[int, int, float, float], tuple[float, float]]
"""(chunks, their tokens, KV tokens that they read, pairs): s of the pass, s of its attention."""
_Known = dict[tuple[int, float], tuple[float, float]]
"""The same of one chunk, by its tokens and those that it reads."""


class QuickPass(NamedTuple):
    """The two questions of the engine."""

    line: Line
    """(sequences, positions, logits, KV tokens read, pairs, growth of both) of decode passes: as
    `ForwardPass.line`."""
    mixed: Mixed
    """(the first five of those, chunks, their tokens, KV tokens that they read, their pairs): the
    time of the pass, of its prompts alone, and of its decode part alone, s; 0 without one."""


class _Form(NamedTuple):
    """Decode passes of one size."""

    beside_s: float
    """All but attention."""
    fixed_s: float
    token_s: float
    pair_s: float
    host_s: float
    after_s: float
    """What the host does while the GPU works, and what in turn with it (`HostTime.sides`)."""
    rates: Rates
    """Fixed, per token and per pair as an object."""


def quick_pass(cost: ForwardPass) -> QuickPass | None:
    """Return the quick pricing of a replica; None where its passes are not of this kind."""
    if type(cost) is not ForwardPass or not cost.simple:
        return None
    beside = _Beside(cost)
    forms = _Forms(cost, beside)
    return QuickPass(_line_of(cost, forms), _mixed_of(cost, forms, beside))


class _Beside(dict[tuple[int, float, int, int], tuple[float, float, float]]):
    """Passes without their attention, by tokens, logits, sequences and prompts among them.

    The GPU's time, and the two of the host beside it (`HostTime.sides`), s.
    """

    def __init__(self, cost: ForwardPass) -> None:
        self._cost = cost
        super().__init__()

    def __missing__(self, size: tuple[int, float, int, int]) -> tuple[float, float, float]:
        tokens, logits, count, prompts = size
        cost, host = self._cost, self._cost.host_beside
        held = count if cost.stateful else 0
        seconds = cost.beside_attention_s((tokens, logits, held), count)
        sides = (0.0, 0.0) if host is None else host.sides(count, tokens, prompts)
        found = seconds, *sides
        if len(self) < _MOST_REMEMBERED:
            self[size] = found
        return found


class _Forms(dict[tuple[int, int, float], _Form]):
    """The form of each size that has come up, by sequences, positions and logits."""

    def __init__(self, cost: ForwardPass, beside: _Beside) -> None:
        self._cost, self._beside = cost, beside
        super().__init__()

    def __missing__(self, size: tuple[int, int, float]) -> _Form:
        sequences, positions, logits = size
        (rates,) = self._cost.decode_rates(sequences)
        beside_s, host_s, after_s = self._beside[positions, logits, sequences, 0]
        facts = beside_s, rates.fixed_s, rates.token_s, rates.pair_s
        form = _Form(*facts, host_s, after_s, rates)
        if len(self) < _MOST_REMEMBERED:  # fractional positions hardly repeat
            self[size] = form
        return form


def _line_of(cost: ForwardPass, forms: _Forms) -> Line:
    host = cost.host_beside

    def line(  # noqa: PLR0917  # called per pass: positional is faster
        sequences: int,
        positions: int,
        logits: float,
        read: float,
        pairs: float,
        growth: float,
        pairs_growth: float,
    ) -> tuple[float, float, int]:
        form = forms[sequences, positions, logits]
        beside_s, fixed_s, token_s, pair_s, host_s, after_s, rates = form
        memory_s, slope_s, limit = token_s * read, token_s * growth, NO_LIMIT
        if memory_s > pair_s * pairs and slope_s >= pair_s * pairs_growth:
            first_s = beside_s + (fixed_s + memory_s)  # bound by memory, and stays so
        else:
            attention_s, slope_s, limit = rates.line(read, pairs, growth, pairs_growth)
            first_s = beside_s + attention_s
        if host is None or first_s >= host_s:
            return first_s + after_s, slope_s, limit
        return host.line((first_s, slope_s, limit), sequences, positions)

    return line


def _prompts_of(cost: ForwardPass, beside: _Beside, known: _Known) -> _Prompts:
    """Return the pricing of prompts alone; passes of one chunk become known."""
    ((_, kind),) = cost.prompt_kinds

    def alone(prompts: int, tokens: int, context: float, pairs: float) -> tuple[float, float]:
        attention_s = 0.0
        if tokens:  # else there was no room for any
            attention_s = kind.seconds(context, pairs, prompts, tokens)
        beside_s, host_s, after_s = beside[tokens, prompts, prompts, prompts]
        pass_s = beside_s + attention_s
        if cost.prompt_factor != 1.0:
            pass_s += cost.beyond_kernels_s(pass_s, 0.0, prompts)
        pass_s = max(pass_s, host_s) + after_s
        if prompts == 1 and len(known) < _MOST_REMEMBERED:
            known[tokens, context] = pass_s, attention_s
        return pass_s, attention_s

    return alone


def _mixed_of(cost: ForwardPass, forms: _Forms, beside: _Beside) -> Mixed:
    factor = cost.prompt_factor
    known: _Known = {}
    alone, find = _prompts_of(cost, beside, known), known.get

    def mixed(  # noqa: PLR0917  # called per pass: positional is faster
        sequences: int,
        positions: int,
        logits: float,
        read: float,
        pairs: float,
        prompts: int,
        tokens: int,
        context: float,
        prompt_pairs: float,
    ) -> tuple[float, float, float]:
        one = find((tokens, context)) if prompts == 1 else None
        prompt_s, prompt_attention_s = one or alone(prompts, tokens, context, prompt_pairs)
        if not sequences:
            return prompt_s, prompt_s, 0.0
        form = forms[sequences, positions, logits]
        decode_s, fixed_s, token_s, pair_s, decode_host_s, decode_after_s, _ = form
        memory_s, compute_s = token_s * read, pair_s * pairs
        attention_s = fixed_s + (memory_s if memory_s >= compute_s else compute_s)  # noqa: FURB136  # hot
        decode_s += attention_s
        size = positions + tokens, logits + prompts, sequences + prompts, prompts
        beside_s, host_s, after_s = beside[size]
        pass_s = beside_s + attention_s + prompt_attention_s
        if factor != 1.0:
            pass_s += cost.beyond_kernels_s(pass_s, decode_s, prompts)
        if pass_s < host_s:  # noqa: PLR1730  # hot
            pass_s = host_s
        if decode_s < decode_host_s:  # noqa: PLR1730  # hot
            decode_s = decode_host_s
        return pass_s + after_s, prompt_s, decode_s + decode_after_s

    return mixed
