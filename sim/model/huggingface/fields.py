"""Reading a configuration field by field: what nobody read or knows is refused by its name."""

from collections.abc import Iterable, Mapping
from typing import NoReturn

from sim.errors import InputError
from sim.model.huggingface.harmless import is_harmless


class Fields:
    """One JSON object of a `config.json`. A null counts as absent, as the class default is meant.

    Every accessor notes the keys that it was asked for; `refuse_rest` refuses what is left.
    """

    def __init__(self, content: Mapping[str, object], where: str, prefix: str = "") -> None:
        self.content, self.where, self.prefix = content, where, prefix
        self._read: set[str] = set()

    def _find(self, keys: tuple[str, ...]) -> tuple[str, object]:
        """Return the first key that holds something, and its value; all are noted as read."""
        self._read.update(keys)
        for key in keys:
            if self.content.get(key) is not None:
                return key, self.content[key]
        return keys[0], None

    def has(self, key: str) -> bool:
        """Whether a key is there and not null; does not note it as read."""
        return self.content.get(key) is not None

    def count(self, *keys: str, default: int | None = None) -> int:
        """Return a whole number from 1 on: under the first of `keys` that holds one."""
        value = self.optional(*keys)
        if value is None:
            value = default
        if value is None:
            raise InputError(f"`{self.prefix}{keys[0]}` is missing", where=self.where)
        return value

    def optional(self, *keys: str) -> int | None:
        """Return a whole number from 1 on, or None where it is absent."""
        value = self.amount(*keys)
        if value == 0:
            self._wrong(keys[0], "a whole number from 1 on", value)
        return value

    def amount(self, *keys: str) -> int | None:
        """Return a whole number from 0 on, or None where it is absent."""
        key, value = self._find(keys)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self._wrong(key, "a whole number from 1 on", value)
        return value

    def number(self, *keys: str) -> float | None:
        """Return a number, or None where it is absent."""
        key, value = self._find(keys)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong(key, "a number", value)
        return float(value)

    def flag(self, *keys: str, default: bool = False) -> bool:
        """Return true or false."""
        key, value = self._find(keys)
        if value is None:
            return default
        if not isinstance(value, int) or value not in {0, 1}:
            self._wrong(key, "true or false", value)
        return bool(value)

    def text(self, *keys: str) -> str | None:
        """Return a string, or None where it is absent."""
        key, value = self._find(keys)
        if value is not None and not isinstance(value, str):
            self._wrong(key, "text", value)
        return value

    def items(self, *keys: str) -> list[object] | None:
        """Return a list, or None where it is absent."""
        key, value = self._find(keys)
        if value is not None and not isinstance(value, list):
            self._wrong(key, "a list", value)
        return value

    def nested(self, *keys: str) -> "Fields | None":
        """Return an object inside, or None where it is absent."""
        key, value = self._find(keys)
        if value is None:
            return None
        return self.inside(key, value)

    def inside(self, key: str, value: object) -> "Fields":
        """Return `value`, which stands at `key`, as fields of its own."""
        if not isinstance(value, Mapping):
            self._wrong(key, "an object", value)
        return Fields(value, self.where, f"{self.prefix}{key}.")

    def filled(self, defaults: Mapping[str, object]) -> "Fields":
        """Return the same fields over `defaults`, which hold where a key is absent or null."""
        missing = {key: value for key, value in defaults.items() if not self.has(key)}
        result = Fields({**self.content, **missing}, self.where, self.prefix)
        result._read = self._read
        return result

    def without(self, *keys: str) -> "Fields":
        """Return the same fields without some, which are noted as read."""
        self.ignore(*keys)
        given = {key: value for key, value in self.content.items() if key not in keys}
        result = Fields(given, self.where, self.prefix)
        result._read = self._read
        return result

    def ignore(self, *keys: str) -> None:
        """Note keys that change no count of this family."""
        self._read.update(keys)

    def refuse(self, key: str, why: str) -> NoReturn:
        """Refuse the file because of one field."""
        raise InputError(f"`{self.prefix}{key}` {why}", where=self.where)

    def _wrong(self, key: str, expected: str, found: object) -> NoReturn:
        text = repr(found)
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        self.refuse(key, f"should be {expected}, found {shown}")

    def refuse_rest(self, remedy: str) -> None:
        """Refuse fields that nobody read, unless they are known to change no count.

        A field that is null, false, zero or empty switches nothing on.
        """
        odd = [
            f"`{self.prefix}{key}`"
            for key, value in self.content.items()
            if key not in self._read and value and not is_harmless(key)
        ]
        if odd:
            problem = f"{_listed(odd)} not understood: it could change what a token costs"
            raise InputError(problem, where=self.where, remedy=remedy)


_SHOWN = 60


def _listed(names: Iterable[str], most: int = 8) -> str:
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
