"""KV blocks of prompts that are kept and shared, by name.

A block is *pinned* while a running sequence uses it, and *idle* after that: it stays until its
room is needed, and the one that was let go first gives way first (LRU; of one sequence the last
block first, since those before it are of use without it).
"""

from collections.abc import Iterable, Sequence

from sim.records import PrefixBlocks


class PrefixCache:
    """Which named blocks one pool holds, and who uses them; it knows no sizes and no clock."""

    __slots__ = ("_idle", "_users")

    def __init__(self) -> None:
        self._users: dict[int, int] = {}
        """Sequences that use each pinned block."""
        self._idle: dict[int, None] = {}
        """The first goes first."""

    @property
    def pinned(self) -> int:
        """Blocks in use."""
        return len(self._users)

    @property
    def idle(self) -> int:
        """Blocks that nobody uses."""
        return len(self._idle)

    def held(self, names: Sequence[int]) -> int:
        """Return how many of the first blocks are here, up to the first that is not."""
        users, idle = self._users, self._idle
        for place, name in enumerate(names):
            if name not in users and name not in idle:
                return place
        return len(names)

    def idle_among(self, names: Iterable[int]) -> int:
        """Return how many of these blocks are idle."""
        idle = self._idle
        return sum(name in idle for name in names)

    def pin(self, names: Iterable[int]) -> None:
        """Let one more sequence use these blocks; those that are not here are new."""
        users, idle = self._users, self._idle
        for name in names:
            count = users.get(name, 0)
            users[name] = count + 1
            if not count and name in idle:
                del idle[name]

    def release(self, names: Sequence[int]) -> None:
        """Let one sequence use these blocks no more, the last first."""
        users, idle = self._users, self._idle
        for name in reversed(names):
            count = users[name] - 1
            if count:
                users[name] = count
            else:
                del users[name]
                idle[name] = None

    def keep(self, names: Sequence[int]) -> None:
        """Take in blocks that nobody uses any more, the last first, as if used just now."""
        users, idle = self._users, self._idle
        for name in reversed(names):
            if name not in users:
                idle.pop(name, None)
                idle[name] = None

    def drop(self, blocks: int) -> None:
        """Let the blocks go that have been idle for longest; at most all of them."""
        idle = self._idle
        for _ in range(min(blocks, len(idle))):
            del idle[next(iter(idle))]


class Names:
    """Names of the blocks of each request."""

    __slots__ = ("_hashes", "_offsets", "block_tokens")

    def __init__(self, blocks: PrefixBlocks) -> None:
        self._offsets: list[int] = blocks.offsets.tolist()
        self._hashes: list[int] = blocks.hashes.tolist()
        self.block_tokens = blocks.block_tokens

    def of(self, row: int, tokens: float) -> list[int]:
        """Return the names of the whole blocks in the first `tokens` tokens of a request."""
        first = self._offsets[row]
        last = min(self._offsets[row + 1], first + int(tokens // self.block_tokens))
        return self._hashes[first:last]
