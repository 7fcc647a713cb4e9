"""Turns of sessions in the engine, worked out by hand with passes of half a second."""

from typing import Literal

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Habits, Limits, simulate
from sim.records import Simulation, Status, Traffic, Turns
from tests.engine.agreement import MODES
from tests.engine.habit_oracle import serve_with_habits
from tests.laws.constant_pass import ConstantPass

Mode = Literal["leap", "pass"]
ROOM = Limits(1, 4, 64, KvShape(200, 1), 150)


def served(asked: Traffic, mode: Mode, room: Limits = ROOM) -> Simulation:
    passes = asked.output_tokens - 1
    return simulate(asked, passes, Autoregressive(), ConstantPass(0.5), room, mode=mode)


def a_traffic(
    first: list[int], pauses: list[float], *, starts: list[float] | None = None, users: int = 1
) -> Traffic:
    """Answers of two tokens: each takes a second from admission."""
    rows = first[-1]
    turns = Turns(np.array(first), np.array(pauses))
    arrivals = np.zeros(rows) if starts is None else np.repeat(starts, np.diff(first))
    return Traffic(
        arrivals,
        np.arange(1, rows + 1),
        np.full(rows, 2),
        measured=rows,
        users=users if starts is None else None,
        turns=turns,
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_turn_of_an_open_loop_follows_the_answer_and_a_pause(mode: Mode) -> None:
    """Sessions begin at 0.25 and 3.1 s; their second turns 1.6 and 0.2 s after answers."""
    asked = a_traffic([0, 2, 4], [9.0, 1.6, 9.0, 0.2], starts=[0.25, 3.1])
    records = served(asked, mode).records
    np.testing.assert_allclose(records.arrival_s, [0.25, 2.85, 3.1, 4.55])
    # the second turn of the first session is in its first pass when the other session begins
    np.testing.assert_allclose(records.admitted_s, [0.25, 2.85, 3.35, 4.55])
    np.testing.assert_allclose(records.last_token_s, [1.25, 3.85, 4.35, 5.55])
    assert records.input_tokens.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("mode", MODES)
def test_rows_are_numbered_as_they_come_and_not_session_by_session(mode: Mode) -> None:
    asked = a_traffic([0, 2, 4], [0.0, 5.0, 0.0, 0.5], starts=[0.0, 0.25])
    records = served(asked, mode).records
    assert records.request_id.tolist() == [0, 1, 2, 3]
    assert records.input_tokens.tolist() == [1, 3, 4, 2]
    assert np.all(np.diff(records.arrival_s) >= 0)


@pytest.mark.parametrize("mode", MODES)
def test_a_user_who_has_done_with_a_session_begins_the_next(mode: Mode) -> None:
    """One user, sessions of 2 and 1 turns, pauses of 0.3 s in between and 2 s before the next."""
    asked = a_traffic([0, 2, 3], [7.0, 0.3, 2.0])
    records = served(asked, mode).records
    np.testing.assert_allclose(records.arrival_s, [0.0, 1.3, 4.3])  # 7 s are not waited for
    np.testing.assert_allclose(records.last_token_s, [1.0, 2.3, 5.3])


@pytest.mark.parametrize("mode", MODES)
def test_the_first_that_are_issued_are_measured_and_the_rest_goes_on(mode: Mode) -> None:
    asked = a_traffic([0, 3, 4, 5], [0.0, 9.0, 9.0, 0.0, 0.0], users=2)
    few = Traffic(
        asked.arrival_s, asked.input_tokens, asked.output_tokens, 3, users=2, turns=asked.turns
    )
    seen = served(few, mode)
    assert seen.records.input_tokens[:3].tolist() == [1, 4, 5]  # the second user does two sessions
    assert seen.records.status[:3].tolist() == [Status.FINISHED] * 3
    assert np.isnan(seen.records.arrival_s[3:]).all()
    assert seen.gaps.weights.sum() == 3  # one gap of each measured answer, none of others


@pytest.mark.parametrize("mode", MODES)
def test_a_turn_that_never_fits_is_rejected_and_the_session_goes_on(mode: Mode) -> None:
    asked = a_traffic([0, 2, 3], [0.0, 0.5, 0.5])
    asked.input_tokens[1] = 500
    records = served(asked, mode).records
    assert records.status.tolist() == [Status.FINISHED, Status.REJECTED, Status.FINISHED]
    np.testing.assert_allclose(records.arrival_s, [0.0, 1.5, 2.0])


@pytest.mark.parametrize("mode", MODES)
def test_who_is_refused_begins_the_session_before_one_whose_answer_is_not_handed_out_yet(
    mode: Mode,
) -> None:
    """One place, passes of 1 s, and a front end that needs 1.25 s for a chunk; two users.

    Rows 0 and 1 are made at 1 and 2 s and seen at 2.25 and 3.5. Row 2 is made at 3.25 and seen at
    4.75. Meanwhile row 3 is refused, at 3.5: its user begins row 4 at once, and who waits for 2
    begins row 5 at 4.75. Row 4 makes tokens at 4.5, 5.5 and 6.5, seen at 6, 7.25 and 8.5.
    """
    outputs = np.array([1, 1, 1, 1, 3, 1])
    turns = Turns(np.arange(7), np.zeros(6))
    inputs = np.array([1, 1, 1, 500, 1, 1])
    asked = Traffic(np.zeros(6), inputs, outputs, 6, users=2, turns=turns)
    room = Limits(1, 1, 8, KvShape(31, 1), 150, habits=Habits(front_end_s_per_chunk=1.25))
    inputs_of_both = asked, outputs - 1, Autoregressive(), ConstantPass(1.0), room
    records = simulate(*inputs_of_both, mode=mode).records
    assert records.output_tokens.tolist() == [1, 1, 1, 1, 3, 1]
    assert records.arrival_s.tolist() == [0, 0, 2.25, 3.5, 3.5, 4.75]
    np.testing.assert_array_equal(records.admitted_s, [0, 1, 2.25, np.nan, 3.5, 6.5])
    np.testing.assert_array_equal(records.last_token_s, [2.25, 3.5, 4.75, np.nan, 8.5, 9.75])
    second = serve_with_habits(*inputs_of_both)
    assert [job.arrival_s for job in second] == records.arrival_s.tolist()
    np.testing.assert_array_equal([job.last_token_s for job in second], records.last_token_s)
