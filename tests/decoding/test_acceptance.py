"""The ways to state acceptance, each against what it means."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sim.decoding import Speculative
from sim.decoding.acceptance import Acceptance, survival_of_lengths, survival_of_means
from sim.decoding.rounds import scaled
from sim.errors import InputError

DRAFT = {"work_share": 0.1}


def test_one_published_mean_is_the_same_acceptance_at_every_position() -> None:
    # 0.6 + 0.36 + 0.216 = 1.176
    assert survival_of_means({3: 2.176}) == pytest.approx((0.6, 0.36, 0.216))


def test_means_by_length_give_the_survival_of_each_position_that_they_differ_by() -> None:
    survival = survival_of_means({1: 1.7, 2: 2.2, 3: 2.5})
    assert survival == pytest.approx((0.7, 0.5, 0.3))


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8), st.data())
def test_survival_of_means_gives_the_means_back_and_never_rises(
    conditional: list[float], data: st.DataObject
) -> None:
    product, mean, means = 1.0, 1.0, dict[int, float]()
    for position, acceptance in enumerate(conditional, start=1):
        product *= acceptance
        mean += product
        means[position] = mean
    lengths = st.lists(st.sampled_from(sorted(means)), min_size=1, unique=True)
    published = {length: means[length] for length in data.draw(lengths)}
    try:
        survival = survival_of_means(published)
    except ValueError:
        # a constant fall up to the first figure may leave less than the next one asks for
        assert len(published) > 1
        return
    for length, tokens_per_pass in published.items():
        assert 1 + sum(survival[:length]) == pytest.approx(tokens_per_pass, rel=1e-6)
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(survival))


def test_rounds_of_all_or_nothing_accept_none_and_all_as_often_as_stated() -> None:
    given_shares = {"all_or_nothing": {"none": 0.3, "all": 0.4}}
    survival = Acceptance.model_validate(given_shares).survival_of(4)
    assert 1 - survival[0] == pytest.approx(0.3)
    assert survival[-1] == pytest.approx(0.4)
    # one, two and three accepted share the rest evenly
    assert [one - two for one, two in pairwise(survival)] == pytest.approx([0.1] * 3)


def test_measured_lengths_say_how_often_each_position_survived(tmp_path: Path) -> None:
    path = tmp_path / "rounds.csv"
    path.write_text("accepted\n0\n3\n1\n3\n")
    stated = Acceptance(accepted_lengths=path)
    assert stated.survival_of(3) == pytest.approx((0.75, 0.5, 0.5))
    path.write_text("accepted,count\n0,10\n3,20\n1,10\n")
    assert stated.survival_of(4) == pytest.approx((0.75, 0.5, 0.5, 0.0))
    assert survival_of_lengths({2: 1.0}, 3) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rounds\n1\n", "no column `accepted`"),
        ("accepted\nmany\n", "line 2: `accepted` should be a number of 0 or more"),
        ("accepted\n1.5\n", "no whole number"),
        ("accepted\n-1\n", "0 or more"),
        ("accepted,count\n1,0\n", "counts no round"),
    ],
)
def test_a_file_of_rounds_that_makes_no_sense_is_refused_in_a_sentence(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "rounds.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        Acceptance(accepted_lengths=path).survival_of(2)
    assert str(path) in str(caught.value)


def test_a_scale_multiplies_the_acceptance_of_every_position_up_to_certainty() -> None:
    assert scaled((0.8, 0.4), 0.5) == pytest.approx((0.4, 0.1))
    assert scaled((0.8, 0.4), 2.0) == pytest.approx((1.0, 1.0))
    assert scaled((0.8, 0.0), 0.5) == pytest.approx((0.4, 0.0))


def test_domains_mix_by_the_passes_that_they_take() -> None:
    """Half of the answers at 2 tokens a pass and half at 4: 2.67, not 3."""
    strategy = Speculative.model_validate(
        {
            "draft_tokens": 3,
            "draft": DRAFT,
            "by_domain": {
                "chat": {"survival": [0.5, 0.3, 0.2]},
                "code": {"survival": [1.0, 1.0, 1.0]},
            },
        }
    )
    mixed = strategy.among({"chat": 0.5, "code": 0.5})
    assert mixed.mean_tokens_per_pass() == pytest.approx(1 / (0.5 / 2 + 0.5 / 4))
    assert mixed.survival_by_position("chat") == (0.5, 0.3, 0.2)
    again = Speculative.model_validate(mixed.model_dump())
    assert (again, hash(again)) == (mixed, hash(mixed))
    assert mixed != strategy
    with pytest.raises(InputError, match="neither it nor the workload names one"):
        strategy.mean_tokens_per_pass()
    with pytest.raises(InputError, match="no acceptance for the domain 'law'"):
        strategy.among({"law": 1.0}).mean_tokens_per_pass()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"acceptance_rate": 1.2}, "less than or equal to 1"),
        ({"survival": [0.5, 0.7]}, "rises"),
        ({"tokens_per_pass": {2: 3.5}}, "can add between 0 and 2"),
        ({"all_or_nothing": {"none": 0.7, "all": 0.7}}, "more than 1 in sum"),
        ({"by_domain": {"chat": {}}}, "needs one statement"),
        ({"acceptance_rate": 0.5, "survival": [0.5, 0.4]}, "found survival, acceptance_rate"),
        ({"acceptance_rate": 0.5, "tree": {"nodes": 2}}, "not 2 drafts deep"),
        (
            {
                "acceptance_rate": 0.5,
                "tree": {"nodes": 8},
                "policy": {"kind": "adaptive", "confidence_concentration": 1},
            },
            "chains, not trees",
        ),
        ({"tokens_per_pass": {1: 1.5}}, "one per position"),
    ],
)
def test_statements_that_make_no_sense_are_refused(keys: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Speculative.model_validate({"draft_tokens": 2, "draft": DRAFT, **keys})
