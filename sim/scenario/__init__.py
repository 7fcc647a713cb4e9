"""The scenario: schema, loading with overrides, and the facts behind its names."""

from sim.scenario.load import (
    apply_overrides,
    build_scenario,
    list_scenarios,
    load_scenario,
    scenario_path,
)
from sim.scenario.published import named_strategy
from sim.scenario.schema import RunSettings, Scenario
from sim.scenario.serving import Serving, resolve

__all__ = [
    "RunSettings",
    "Scenario",
    "Serving",
    "apply_overrides",
    "build_scenario",
    "list_scenarios",
    "load_scenario",
    "named_strategy",
    "resolve",
    "scenario_path",
]
