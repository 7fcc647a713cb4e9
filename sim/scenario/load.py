"""From a file or a built-in name to a checked scenario."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar

import sim.catalog
from sim.decoding import AnyStrategy, ModelDraft
from sim.errors import InputError
from sim.model import list_models
from sim.records import DEFAULT_CLASS
from sim.scenario.published import with_named_strategies
from sim.scenario.schema import Scenario
from sim.yaml_files import find, list_names, parse_scalar, read_yaml, validate

T = TypeVar("T")
SCENARIOS: Final = Path(sim.catalog.__file__).resolve().parent / "scenarios"


def list_scenarios() -> tuple[str, ...]:
    """Return the names of the built-in scenarios."""
    return list_names(SCENARIOS)


def scenario_path(reference: str | Path) -> Path:
    """Return the file of a built-in name, or the user's own path."""
    return find("scenario", reference, SCENARIOS)


def load_scenario(
    reference: str | Path,
    overrides: Iterable[str] = (),
    *,
    options: Mapping[str, str] | None = None,
    trace: Path | None = None,
) -> Scenario:
    """Return the scenario of a file or built-in name, with `key.path=value` overrides applied.

    `options` are overrides, too, that were typed in a form of their own: by the override
    (`run.seed=4`) that form (`--seed 4`), which is what a complaint names.
    A `trace` replaces the workload. Relative paths inside the file are taken from its folder.
    """
    path = scenario_path(reference)
    content: dict[str, Any] = dict(read_yaml(path))
    content.setdefault("name", path.stem)
    changes = tuple(overrides)
    apply_overrides(content, (*changes, *(options or {})))
    typed = [*(["--set", *changes] if changes else []), *(options or {}).values()]
    where = f"{path} with {' '.join(typed)}" if typed else str(path)
    if trace is None:
        return build_scenario(content, where=where, folder=path.parent)
    known = _class_names(content.get("workload"))
    content["workload"] = {"arrivals": {"kind": "trace", "path": str(trace.absolute())}}
    scenario = build_scenario(content, where=where, folder=path.parent)
    _check_classes(trace, scenario.workload.class_names, known)
    return scenario


def _class_names(workload: object) -> list[str]:
    """Return the names of the classes that a file declares; none where it does not."""
    classes = workload.get("classes") if isinstance(workload, Mapping) else None
    declared = classes if isinstance(classes, Sequence) else ()
    return [str(one["name"]) for one in declared if isinstance(one, Mapping) and "name" in one]


def _check_classes(trace: Path, found: Iterable[str], known: Sequence[str]) -> None:
    """Refuse a class of a trace that the scenario's own classes do not have."""
    unknown = [name for name in found if name not in known and name != DEFAULT_CLASS]
    if not known or not unknown:
        return
    near = get_close_matches(unknown[0], known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known)};"
    raise InputError(
        f"the trace has a class `{unknown[0]}` that `workload.classes` does not have",
        where=str(trace),
        remedy=f"{hint} correct the column `class`, or remove `classes`",
    )


def build_scenario(content: Mapping[str, object], *, where: str, folder: Path) -> Scenario:
    """Return a scenario from parsed keys; relative paths are taken from `folder`."""
    scenario = validate(Scenario, with_named_strategies(content), where)
    update: dict[str, Any] = {"workload": scenario.workload.relative_to(folder)}
    for key in ("model", "hardware", "engine", "fitted"):
        update[key] = _from(folder, getattr(scenario, key))
    update["decoding"] = _strategy_from(folder, scenario.decoding)
    update["strategies"] = tuple(_strategy_from(folder, one) for one in scenario.strategies)
    if scenario.cold_start is not None:
        assumptions = _from(folder, scenario.cold_start.assumptions)
        update["cold_start"] = scenario.cold_start.model_copy(update={"assumptions": assumptions})
    return scenario.model_copy(update=update)


def _from(folder: Path, reference: T) -> T | str:
    """Return a reference as seen from here: a file, or a folder that holds a `config.json`.

    A name of the catalog stays one, whatever folders there are.
    """
    if not isinstance(reference, str) or reference in list_models():
        return reference
    path = folder / Path(reference).expanduser()
    named = reference.endswith((".json", ".yaml", ".yml"))
    return str(path) if named or (path / "config.json").is_file() else reference


def _strategy_from(folder: Path, strategy: AnyStrategy) -> AnyStrategy:
    strategy, update = strategy.relative_to(folder), dict[str, Any]()
    if strategy.model is not None:
        update["model"] = _from(folder, strategy.model)
    draft = strategy.drafting
    if isinstance(draft, ModelDraft):
        update["draft"] = draft.model_copy(update={"model": _from(folder, draft.model)})
    return strategy.model_copy(update=update) if update else strategy


def apply_overrides(content: dict[str, Any], overrides: Iterable[str]) -> None:
    """Write `key.path=value` into parsed keys, one after the other."""
    for override in overrides:
        _apply(content, override)


def _apply(content: dict[str, Any], override: str) -> None:
    """Set one dotted key; a `kind` or `name` that changes drops the keys of the old one."""
    key, equals, text = override.partition("=")
    parts = [part.strip() for part in key.split(".")]
    if not equals or not all(parts):
        raise InputError(
            f"`{override}` is not of the form key.path=value",
            where="--set",
            remedy="for example --set deployment.tensor_parallel=4",
        )
    node = content
    for part in parts[:-1]:
        below = node.get(part)
        if below is not None and not isinstance(below, Mapping):
            raise InputError(f"`{part}` in `{key}` holds a value, not keys", where="--set")
        node[part] = dict(below or {})
        node = node[part]
    value = parse_scalar(text)
    changed = parts[-1] in {"kind", "name"} and len(parts) > 1 and node.get(parts[-1]) != value
    if changed:
        node.clear()
    node[parts[-1]] = value
