"""How suites of serving benchmarks drive a server, where a file or a row does not say."""

from typing import Final

PROMPTS_PER_USER: Final = 10
"""Convention of the suites: `--num-prompts` is ten times `--max-concurrency`."""
SHORTEST_SHARE: Final = 0.8
"""Lengths are uniform from this share of the nominal one upwards (`--random-range-ratio`)."""
