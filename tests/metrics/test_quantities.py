from collections.abc import Callable

import numpy as np
import pytest

from sim.metrics import quantities
from sim.metrics.pipeline import Pipeline
from sim.records import RequestRecords

NAN = float("nan")
PIPELINE = Pipeline(network_rtt_ms=30, gateway_ms=5, tokenise_ms=2, detokenise_ms=3)

Build = Callable[..., RequestRecords]


def test_the_pipeline_adds_half_a_round_trip_on_either_side() -> None:
    assert PIPELINE.before_s == pytest.approx(0.022)
    assert PIPELINE.after_s == pytest.approx(0.018)
    assert PIPELINE.total_s == pytest.approx(0.040)


def test_ttft_and_ttlt_include_the_pipeline_and_engine_ttft_does_not(a_records: Build) -> None:
    records = a_records([1.0], admitted_s=[1.5], first_token_s=[2.0], last_token_s=[4.0])
    assert quantities.engine_ttft_s(records) == pytest.approx([1.0])
    assert quantities.ttft_s(records, PIPELINE) == pytest.approx([1.04])
    assert quantities.ttlt_s(records, PIPELINE) == pytest.approx([3.04])


def test_tpot_is_the_time_after_the_first_token_over_the_tokens_after_it(
    a_records: Build,
) -> None:
    records = a_records([0.0], first_token_s=[1.0], last_token_s=[3.0], output_tokens=[5])
    assert quantities.tpot_s(records) == pytest.approx([0.5])


def test_an_answer_of_one_token_or_of_one_chunk_has_neither_tpot_nor_gap(a_records: Build) -> None:
    records = a_records(
        [0.0, 0.0, 0.0],
        first_token_s=[1.0, 1.0, 1.0],
        last_token_s=[1.0, 1.0, 2.0],
        output_tokens=[1, 64, 5],
        chunks=[1, 1, 5],
        max_gap_s=[NAN, NAN, 0.4],
    )
    np.testing.assert_array_equal(quantities.tpot_s(records), [NAN, NAN, 0.25])
    np.testing.assert_array_equal(quantities.max_gap_s(records), [NAN, NAN, 0.4])


def test_user_speed_is_output_tokens_over_ttlt(a_records: Build) -> None:
    records = a_records([0.0, 1.0], last_token_s=[2.0, NAN], output_tokens=[100, 100])
    speed = quantities.user_tokens_per_s(records, Pipeline(gateway_ms=500))
    np.testing.assert_array_equal(speed, [40.0, NAN])


def test_requests_without_times_have_no_latencies(a_records: Build) -> None:
    records = a_records(
        [0.0], admitted_s=[NAN], first_token_s=[NAN], last_token_s=[NAN], chunks=[0]
    )
    for column in (
        quantities.ttft_s(records, PIPELINE),
        quantities.ttlt_s(records, PIPELINE),
        quantities.tpot_s(records),
    ):
        assert np.isnan(column).all()
