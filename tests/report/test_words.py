"""Numbers as people read them."""

import pytest

from sim.report.words import maybe, number, percent, span, time_ms, token_ms, usd


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.0 ms"),
        (0.009949, "9.9 ms"),
        (0.00996, "10 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (59.96, "60.0 s"),
        (1234.5, "1,234 s"),
    ],
)
def test_times_never_show_a_unit_too_small_or_too_large(seconds: float, text: str) -> None:
    assert time_ms(seconds) == text


def test_times_per_token_keep_a_decimal_up_to_a_hundred() -> None:
    assert token_ms(0.0999) == "99.9 ms"
    assert token_ms(0.09996) == "100 ms"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.9995, "99.95%"), (0.99996, ">99.99%"), (0.9994, "99.9%"), (0.0004, "<0.1%")],
)
def test_only_everything_is_100_percent_and_only_nothing_is_0(share: float, text: str) -> None:
    assert percent(share) == text


def test_what_rounding_leaves_of_nothing_is_nothing() -> None:
    assert percent(1 - 1e-15) == "100%"
    assert usd(1e-15) == "$0.00"


@pytest.mark.parametrize(
    ("amount", "text"),
    [(99.99, "$99.99"), (99.996, "$100"), (0.1, "$0.10"), (0.0094, "$0.0094"), (-5.0, "−$5.00")],
)
def test_money_has_no_cents_from_a_hundred_on_and_two_digits_below_a_dime(
    amount: float, text: str
) -> None:
    assert usd(amount) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (9.996, "10.0"), (999.6, "1,000"), (-0.5, "−0.500")]
)
def test_digits_are_counted_after_rounding(value: float, text: str) -> None:
    assert number(value) == text


def test_a_range_has_its_unit_once_and_an_en_dash() -> None:
    assert span((0.999, 1.0), percent) == "99.9 – 100%"
    assert span((12.0, 15.0), time_ms) == "12.0 – 15.0 s"


def test_what_is_withheld_is_a_dash() -> None:
    assert maybe(None, usd) == "—"
