"""The tables behind an answer."""

from sim.provenance import Part
from sim.report.tables import origin_label


def test_what_nobody_held_a_meter_to_is_not_called_measured() -> None:
    told = Part("measured", "a page")
    assert origin_label("peaks", told) == origin_label("price", told) == "published"
    assert origin_label("decoding", told) == "by definition"
    assert origin_label("memory", told) == "given"
    assert origin_label("host", told) == "measured"
    assert origin_label("price", Part("assumed", "a page")) == "assumed"
    assert origin_label("kernels", Part("calibrated", "a table", "3 %")) == "calibrated"
