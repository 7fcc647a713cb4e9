"""What is said of decoding, against the simulator: each claim holds or falls by a margin."""

import pytest

from sim.planning.decoding_claims import DecodingClaims, decoding_claims


@pytest.fixture(scope="module")
def found() -> DecodingClaims:
    return decoding_claims()


def test_latency_is_linear_in_the_answer_one_token_a_pass(found: DecodingClaims) -> None:
    per_token = [y / x for x, y in zip(found.by_length.x, found.by_length.y, strict=True)]
    assert max(per_token) < 1.02 * min(per_token)  # over a factor of 64 in length


def test_a_fixed_number_of_passes_does_not_fix_the_latency_as_passes_grow(
    found: DecodingClaims,
) -> None:
    longer = found.by_length.x[-1] / found.by_length.x[0]
    assert 2 < found.fixed.growth < longer
    assert found.in_step.growth > longer  # as many passes as the length asks for, each longer


def test_small_batches_are_bound_by_memory_and_there_is_a_crossover(found: DecodingClaims) -> None:
    assert found.pass_times.y[2] < 1.1 * found.pass_times.y[0]  # sixteen for the price of one
    assert found.blocks.y[0] > 3 * found.plain.y[0]
    assert found.plain.y[-1] > 2 * found.blocks.y[-1]
    low, high = found.crossover
    assert 16 <= low < high <= 64


def test_ultra_short_answers_pay_for_a_whole_block(found: DecodingClaims) -> None:
    assert found.short_blocks.y[0] == found.short_blocks.y[1] == found.short_blocks.y[2]
    assert found.short_plain.y[0] < 0.6 * found.short_blocks.y[0]
    assert found.short_plain.y[-1] > 3 * found.short_blocks.y[-1]


def test_halving_the_answer_does_not_halve_the_cost_and_other_things_do(
    found: DecodingClaims,
) -> None:
    by_name = {lever.what: lever.relative for lever in found.levers}
    assert 0.5 < by_name["half the answer"] < 0.75  # the prompt is computed all the same
    assert by_name["256 users at once"] < 0.75
    assert by_name["16 users at once"] > 2  # to fill the batch is worth more than half the answer
