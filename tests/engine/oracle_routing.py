"""Routers by hand: which server gets the next request, from lists of what each one holds."""

from math import floor
from typing import Any, Protocol

import numpy as np

from sim.routers import BaseRouter


class Load(Protocol):
    """What a server tells of itself at the moment of an arrival."""

    def outstanding(self) -> int: ...

    def kv_spoken_for(self) -> float: ...

    def cached(self, job: Any) -> int: ...


class Router:
    """The rule of each router, once more."""

    def __init__(self, rule: BaseRouter, servers: list[Load], seed: int) -> None:
        self.rule, self.servers, self.turn = rule, servers, 0
        self.draws = np.random.default_rng([seed, crc("router")])

    def choose(self, job: Any) -> int:
        count = len(self.servers)
        turn, self.turn = self.turn, self.turn + 1
        lengths = [server.outstanding() for server in self.servers]
        if self.rule.kind == "round_robin":
            return turn % count
        if self.rule.kind == "least_outstanding":
            return lengths.index(min(lengths))
        if self.rule.kind == "least_kv":
            held = [floor(server.kv_spoken_for() + 1e-6) for server in self.servers]
            return held.index(min(held))
        if self.rule.kind == "power_of_two":
            return self.better_of_two(lengths)
        slack = self.rule.model_dump()["balance_requests"]
        allowed = [i for i in range(count) if lengths[i] <= min(lengths) + slack]
        return min(allowed, key=lambda i: (-self.servers[i].cached(job), lengths[i], i))

    def better_of_two(self, lengths: list[int]) -> int:
        if len(lengths) == 1:
            return 0
        first = int(self.draws.random() * len(lengths))
        others = [i for i in range(len(lengths)) if i != first]
        second = others[int(self.draws.random() * len(others))]
        return second if lengths[second] < lengths[first] else first


def crc(text: str) -> int:
    """CRC-32 bit by bit (polynomial 0xEDB88320)."""
    value = 0xFFFFFFFF
    for byte in text.encode():
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
    return value ^ 0xFFFFFFFF
