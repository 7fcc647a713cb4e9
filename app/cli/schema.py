"""`paretoken schema`: every key of a scenario, as JSON Schema."""

from app.cli.exits import ANSWER
from app.cli.output import emit_json
from sim.scenario import Scenario


def print_schema() -> int:
    """Print the JSON Schema of the scenario file."""
    emit_json(Scenario.model_json_schema(by_alias=True))
    return ANSWER
