"""Weights of classes: by name, in the order of the traffic, and refused by name."""

import pytest

from sim.engine.schedulers import ChunkedPrefillSettings
from sim.errors import InputError

NAMES = ("chat", "summary", "batch")


@pytest.mark.parametrize(
    ("given", "ordered"),
    [
        ({"summary": 3.0}, (1.0, 3.0, 1.0)),
        ({"batch": 0.5, "chat": 2.0}, (2.0, 1.0, 0.5)),
        ((2.0, 3.0), (2.0, 3.0)),  # those beyond the list have weight 1
    ],
)
def test_weights_come_in_the_order_of_the_classes(given: object, ordered: object) -> None:
    settings = ChunkedPrefillSettings.model_validate({"order": "fair", "class_weights": given})
    assert settings.for_classes(NAMES).class_weights == ordered


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"chatt": 2.0}, "a weight for chatt, but the classes of the traffic are chat, summary"),
        ((1.0, 2.0, 3.0, 4.0), "4 weights, but the classes of the traffic are chat, summary"),
    ],
)
def test_a_class_that_is_not_there_is_named_beside_those_that_are(
    given: object, said: str
) -> None:
    settings = ChunkedPrefillSettings.model_validate({"order": "fair", "class_weights": given})
    with pytest.raises(InputError, match=said):
        settings.for_classes(NAMES)
