"""Requests that follow the answers to others, drawn by hypothesis."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from sim.records import Traffic, Turns


@st.composite
def in_sessions(draw: st.DrawFn, asked: Traffic) -> Traffic:
    """Return the same requests as turns of sessions, which follow each other after pauses."""
    rows = len(asked)
    edges = draw(st.sets(st.integers(1, rows - 1), max_size=rows - 1)) if rows > 1 else set()
    first = np.array([0, *sorted(edges), rows])
    pauses = draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))
    return replace(
        asked,
        arrival_s=np.repeat(asked.arrival_s[first[:-1]], np.diff(first)),
        measured=draw(st.integers(1, rows)),
        turns=Turns(first, np.array(pauses) * 0.01234567891),
    )
