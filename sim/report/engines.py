"""Engine presets: what they do beside batching, and who says so."""

from typing import Any

from sim.hardware import EngineProfile
from sim.hardware.engine import EngineFile
from sim.report.sources import source_numbers, source_of
from sim.report.table import Table, columns
from sim.report.words import NOTHING, percent
from sim.units import US_PER_S

Facts = dict[str, Any]


def engine_facts(engine: EngineProfile) -> Facts:
    """Return what tells engines apart."""
    return {
        "name": engine.requested,
        "scheduler": engine.scheduler,
        "memory_fraction": engine.memory_fraction,
        "host_us_per_pass": engine.host_s_per_pass * US_PER_S,
        "host_us_per_sequence": engine.host_s_per_sequence * US_PER_S,
        "asynchronous": engine.asynchronous,
        "error": dict(engine.error),
        "origin": engine.origin,
        "as_of": engine.as_of,
        "source": engine.source,
        "note": engine.note,
    }


def setting_facts(engine: EngineFile) -> list[Facts]:
    """Return every setting of a preset with who says so."""
    return [
        {"key": key, **setting.model_dump(mode="json")} for key, setting in engine.settings.items()
    ]


def engines_table(facts: list[Facts]) -> Table:
    """Return one line for each engine; the sources are a table of their own."""
    numbers = source_numbers(facts)
    rows = tuple(
        (
            fact["name"],
            fact["scheduler"].replace("_", " "),
            f"{fact['host_us_per_pass']:,.0f}",
            f"{fact['host_us_per_sequence']:,.0f}",
            "beside the GPU" if fact["asynchronous"] else "in turn",
            next((percent(error) for error in fact["error"].values()), NOTHING),
            fact["origin"],
            str(numbers[source_of(fact)]),
        )
        for fact in facts
    )
    heads = ("<engine", "<scheduler", "us a pass", "us a sequence", "<host works", "error",
             "<origin", "source")  # fmt: skip
    note = "us: time of the host; error: of TPOT on measured serving runs"
    return Table("Engines", columns(*heads), rows, note)


def settings_table(facts: list[Facts]) -> Table:
    """Return the settings of one engine; their sources are a table of their own."""
    numbers = source_numbers(facts)
    rows = tuple(
        (fact["key"], _value(fact["value"]), fact["origin"], str(numbers[source_of(fact)]))
        for fact in facts
    )
    note = "Each may be set under `engine_options` of a scenario"
    return Table("Settings", columns("<setting", "<value", "<origin", "source"), rows, note)


def _value(value: Any) -> str:  # noqa: ANN401  # of any setting
    """Return a value as it stands in a scenario."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(f"{one:g}" for one in value)
    return f"{value:g}" if isinstance(value, int | float) else str(value)
