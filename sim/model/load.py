"""A reference in a scenario -> `Model`: a catalog name, an alias, a file, or inline facts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sim.errors import UnknownNameError
from sim.model.architecture import Model
from sim.model.facts import ModelFacts, read_facts
from sim.model.weight_format import Format
from sim.yaml_files import list_names, read_yaml

CATALOG: Final = Path(__file__).resolve().parent.parent / "catalog" / "models"


def list_models() -> tuple[str, ...]:
    """Return the names of the catalog."""
    return list_names(CATALOG)


def names_of(name: str) -> tuple[str, ...]:
    """Return every name of a model of the catalog: its own, aliases, quantised checkpoints."""
    facts = _load_facts(CATALOG / f"{name}.yaml")
    return (facts.name, *facts.aliases, *facts.checkpoints)


def checkpoint_in(name: str, layers: Format) -> str | None:
    """Return the first checkpoint that the catalog lists of a model with its layers in a format.

    >>> checkpoint_in("qwen3-32b", "fp8_block"), checkpoint_in("qwen3-32b", "int8")
    ('Qwen/Qwen3-32B-FP8', None)
    """
    if name not in list_models():
        return None
    listed = _load_facts(CATALOG / f"{name}.yaml").checkpoints
    formats = {
        repository: stored if isinstance(stored, str) else stored.layers
        for repository, stored in listed.items()
    }
    return next((repository for repository, found in formats.items() if found == layers), None)


def called(reference: object, model: Model) -> str:
    """Return the name of a model, after the alias or checkpoint that a scenario calls it by.

    >>> called("deepseek-r1", load_model("deepseek-r1"))
    'deepseek-r1 (as deepseek-v3)'
    """
    if not isinstance(reference, str) or reference == model.name:
        return model.name
    known = names_of(model.name) if model.name in list_models() else ()
    if reference.lower() not in {name.lower() for name in known}:
        return model.name
    return f"{reference} (as {model.name})"


def load_model(reference: str | Path | Mapping[str, object]) -> Model:
    """Return the model that `reference` means.

    A mapping is taken as facts written inline (the keys of a catalog file), or as the content of a
    `config.json`, if it has a `model_type` or `architectures`. A string is a name of
    the catalog, else a path that exists, else an alias or a quantised checkpoint of the catalog
    (in any case). A path is a YAML file of facts, or a Hugging Face `config.json` or its folder.
    """
    if isinstance(reference, Mapping):
        return _inline(reference)
    if isinstance(reference, str):
        if reference in list_models():
            return _load_facts(CATALOG / f"{reference}.yaml").to_model()
        path = Path(reference).expanduser()
        if not path.exists():
            return _by_alias(reference)
    else:
        path = reference
    if path.suffix in {".yaml", ".yml"}:
        return _load_facts(path).to_model()
    from sim.model.huggingface import load_config  # one module per family: only when needed

    return load_config(path)


def _inline(mapping: Mapping[str, object]) -> Model:
    if mapping.keys() & {"model_type", "architectures"}:
        from sim.model.huggingface.inline import load_inline

        return load_inline(mapping)
    return read_facts(mapping, "model").to_model()


def _load_facts(path: Path) -> ModelFacts:
    return read_facts(read_yaml(path), str(path))


def _by_alias(alias: str) -> Model:
    wanted = alias.lower()
    for path in sorted(CATALOG.glob("*.yaml")):
        # The text is searched before it is parsed: the catalog is long, the alias in one file.
        if wanted not in path.read_text(encoding="utf-8").lower():
            continue
        facts = _load_facts(path)
        if wanted in {known.lower() for known in (facts.name, *facts.aliases)}:
            return facts.to_model()
        checkpoint = facts.checkpoint_named(alias)
        if checkpoint is not None:
            return facts.to_model(checkpoint)
    raise UnknownNameError("model", alias, list_models())
