"""From kinds of requests to requests: classes, lengths, sessions, and what begins alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sim.records import FloatArray, IntArray, PrefixBlocks
from sim.workload.classes import Kind, draw_classes
from sim.workload.dependence import by_rank_correlation, by_rank_table
from sim.workload.prefixes import name_blocks
from sim.workload.presets import load_workload_preset
from sim.workload.sessions import Grouped, Sessions
from sim.workload.streams import open_uniforms, stream

_SPARE_SESSIONS: Final = 8


@dataclass(frozen=True, slots=True)
class Requests:
    """What is asked, row by row, without the time at which it is."""

    input_tokens: IntArray
    output_tokens: IntArray
    kind: IntArray
    """Place in the kinds."""
    prompt: IntArray
    """Which of the shared prefixes of its kind it begins with."""
    sessions: Grouped | None = None
    drawn: IntArray | None = None
    """Place of each row among all turns that were drawn, also those beyond the context."""

    def __len__(self) -> int:
        return len(self.input_tokens)

    def first_rows(self, count: int) -> "Requests":
        """Return the first of those that are no sessions."""
        return self._rows(slice(count), None, None)

    def _rows(self, kept: slice, sessions: Grouped | None, drawn: IntArray | None) -> "Requests":
        return Requests(
            self.input_tokens[kept],
            self.output_tokens[kept],
            self.kind[kept],
            self.prompt[kept],
            sessions,
            drawn,
        )

    def first_sessions(self, count: int) -> "Requests":
        """Return those of the first sessions."""
        if self.sessions is None or self.drawn is None:
            raise TypeError("these requests are no sessions")  # our mistake, not the user's
        groups = Grouped(self.sessions.first[: count + 1])
        kept = slice(groups.rows)
        return self._rows(kept, groups, self.drawn[kept])


def draw_requests(kinds: Sequence[Kind], rows: int, seed: int) -> Requests:
    """Return `rows` requests; the first do not depend on how many are drawn."""
    kind, prompt = _kinds(kinds, rows, seed)
    inputs, outputs = _lengths(kinds, kind, seed)
    return Requests(inputs + _shared(kinds)[kind], outputs, kind, prompt)


def draw_sessions(
    kinds: Sequence[Kind], sessions: Sessions, rows: int, seed: int, *, context_tokens: int | None
) -> Requests:
    """Return as few sessions as hold `rows` requests; each ends where its context does."""
    limit = sessions.max_context_tokens
    if limit is None:
        limit = context_tokens
    count = int(rows / sessions.turns.mean) + _SPARE_SESSIONS
    while True:
        groups = Grouped.of(sessions.turns.draw(count, stream(seed, "turns")))
        found = _turns(kinds, groups, seed, limit)
        if found.sessions is not None and len(found) >= rows:
            return found.first_sessions(int(np.searchsorted(found.sessions.first, rows)))
        count *= 2


def _turns(kinds: Sequence[Kind], groups: Grouped, seed: int, limit: int | None) -> Requests:
    """Return the turns of sessions: a prompt is what was said before, and a new text."""
    session = groups.session
    kind, prompt = (part[session] for part in _kinds(kinds, len(groups.counts), seed))
    texts, outputs = _lengths(kinds, kind, seed)
    inputs = _shared(kinds)[kind] + groups.before(texts + outputs) + texts
    fits = np.arange(groups.rows) == groups.first[:-1][session]  # a first turn is always sent
    fits |= inputs + outputs <= (np.inf if limit is None else limit)
    drawn = np.flatnonzero(fits)
    kept = Grouped.of(np.bincount(session[drawn], minlength=len(groups.counts)))
    return Requests(inputs[drawn], outputs[drawn], kind[drawn], prompt[drawn], kept, drawn)


def _kinds(kinds: Sequence[Kind], count: int, seed: int) -> tuple[IntArray, IntArray]:
    """Return the kind of each request (or session), and which shared prefix it begins with."""
    kind = np.zeros(count, np.int64)
    if len(kinds) > 1:
        kind = draw_classes([one.share for one in kinds], count, stream(seed, "classes"))
    prefixes = np.array([one.shared_prefixes for one in kinds], np.int64)[kind]
    if not prefixes.max(initial=1) > 1:
        return kind, np.zeros(count, np.int64)
    ranks = open_uniforms(stream(seed, "prefixes"), count)
    return kind, np.floor(ranks * prefixes).astype(np.int64)


def _shared(kinds: Sequence[Kind]) -> IntArray:
    return np.array([one.shared_prefix_tokens for one in kinds], np.int64)


def _lengths(kinds: Sequence[Kind], kind: IntArray, seed: int) -> tuple[IntArray, IntArray]:
    """Return the length of each text of a user and of each answer.

    All kinds map the same draws, so that the lengths of one do not move with those of another.
    """
    input_ranks = open_uniforms(stream(seed, "input_tokens"), len(kind))
    output_ranks = open_uniforms(stream(seed, "output_tokens"), len(kind))
    if len(kinds) == 1:
        return _of_kind(kinds[0], input_ranks, output_ranks)
    inputs, outputs = np.empty(len(kind), np.int64), np.empty(len(kind), np.int64)
    for place, one in enumerate(kinds):
        mine = np.flatnonzero(kind == place)
        inputs[mine], outputs[mine] = _of_kind(one, input_ranks[mine], output_ranks[mine])
    return inputs, outputs


def _of_kind(
    kind: Kind, input_ranks: FloatArray, output_ranks: FloatArray
) -> tuple[IntArray, IntArray]:
    tied, dependence = output_ranks, kind.length_correlation
    if isinstance(dependence, str):
        table = load_workload_preset(dependence).rank_table
        tied = by_rank_table(input_ranks, output_ranks, table)
    elif dependence != 0:
        tied = by_rank_correlation(input_ranks, output_ranks, dependence)
    return (
        kind.input_tokens.draw(input_ranks, "input_tokens"),
        kind.output_tokens.draw(tied, "output_tokens"),
    )


def blocks_of(kinds: Sequence[Kind], requests: Requests, block_tokens: int) -> PrefixBlocks | None:
    """Return which requests begin alike; `None` where none do."""
    shared, prefixes = _shared(kinds), np.array([one.shared_prefixes for one in kinds], np.int64)
    groups = requests.sessions
    if groups is None and not shared.any():
        return None
    each = shared // block_tokens
    first = np.concatenate([[0], np.cumsum(each * prefixes)])
    shared_from = first[requests.kind] + requests.prompt * each[requests.kind]
    named, own_from = shared[requests.kind], shared_from
    if groups is not None:
        named = requests.input_tokens + requests.output_tokens
        longest = np.maximum.reduceat(named, groups.first[:-1]) // block_tokens
        own_from = (first[-1] + np.cumsum(longest) - longest)[groups.session]
    return name_blocks(
        shared_tokens=shared[requests.kind],
        shared_from=shared_from,
        own_from=own_from,
        named_tokens=named,
        block_tokens=block_tokens,
    )
