"""Models of the sidebar: those of the catalog, and those that a user brings as `config.json`."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import PurePath
from typing import Any, Final

import streamlit as st

from app.dashboard.choices import AS_LISTED
from app.dashboard.state import key
from sim.errors import InputError, SimError
from sim.model import Experts, Model, load_model
from sim.model.breakdown import formats_label
from sim.model.huggingface.inline import NAME, fold, name_of
from sim.report.models import context_label
from sim.report.words import number
from sim.scenario import Scenario
from sim.units import GIGA

UPLOADED: Final = " (uploaded)"
"""Follows the name of a model that came from the user."""
FILES: Final = "config_files"
"""Field of the widget that takes the files."""
_KEPT: Final = "explore_uploads"
_REFUSED: Final = "explore_upload_refused"

_ABOUT: Final = (
    "The `config.json` of any Hugging Face model, with `hf_quant_config.json` if it has one. It"
    " stays in this session, and in the scenario that you download."
)
Config = dict[str, Any]


def draw_upload() -> None:
    """Take a `config.json`; what is wrong with it stands below in one sentence."""
    with st.expander("Your own model", icon=":material/upload_file:"):
        st.file_uploader(
            "config.json",
            type=["json"],
            accept_multiple_files=True,
            key=key(FILES),
            on_change=take,
            max_upload_size=1,
            help=_ABOUT,
        )
        refused = refusal()
        if refused is not None:
            st.error(refused.replace("$", r"\$"), icon=":material/error:")


def uploads() -> Mapping[str, Config]:
    """Return the configurations of this session by the name that the list shows."""
    kept: Mapping[str, Config] = st.session_state.get(_KEPT, {})
    return kept


def refusal() -> str | None:
    """Return why the last files were refused, in one sentence."""
    said: str | None = st.session_state.get(_REFUSED)
    return said


def take() -> None:
    """Keep the model of the files that were just chosen, and select it (a callback)."""
    files = st.session_state.get(key(FILES)) or []
    st.session_state[_REFUSED] = None
    if not files:
        return
    try:
        config = read((file.name, file.getvalue()) for file in files)
    except SimError as error:
        st.session_state[_REFUSED] = str(error)
        return
    name = f"{config[NAME]}{UPLOADED}"
    st.session_state[_KEPT] = {**uploads(), name: config}
    st.session_state[key("model")] = name


def read(files: Iterable[tuple[str, bytes]]) -> Config:
    """Return one configuration, side files folded in; raises one sentence where there is none."""
    parsed = {name: _parsed(name, content) for name, content in files}
    mains = [name for name, content in parsed.items() if content.keys() & _SIGNS]
    if len(mains) != 1:
        found = "several configurations" if mains else "no `model_type` in it"
        raise InputError(
            f"this is not the `config.json` of a model: {found}",
            where=", ".join(parsed),
            remedy="choose one config.json, and the side file of its quantiser if it has one",
        )
    main = mains[0]
    config = parsed.pop(main)
    folded = fold(
        config, {_side_name(name): side for name, side in parsed.items()}, _name(main, config)
    )
    try:
        load_model(folded)
    except InputError as error:
        raise InputError(error.problem, where=main, remedy=error.remedy) from None
    return folded


_SIGNS: Final = {"model_type", "architectures"}


def reference_of(choice: str, base: Scenario) -> str | Config:
    """Return what a scenario would name for a choice of the list."""
    return base.model if choice == AS_LISTED else uploads().get(choice, choice)


def loaded(reference: str | Config) -> Model:
    """Return the model; those of the catalog are read once."""
    return _by_name(reference) if isinstance(reference, str) else load_model(reference)


def has_experts(model: Model) -> bool:
    """Tell whether tokens choose among experts, which a deployment may spread."""
    return any(isinstance(group.layer.mlp, Experts) for group in model.groups)


def caption(model: Model) -> str:
    """Return the facts that matter in one line."""
    total, active = model.total_parameters / GIGA, model.active_parameters / GIGA
    size = f"{number(total)} B parameters"
    if total != active:
        size += f", {number(active)} B active"
    return f"{size} · {formats_label(model)} · {context_label(model.max_context_tokens)} context"


@cache
def _by_name(reference: str) -> Model:
    return load_model(reference)


def _parsed(name: str, content: bytes) -> Config:
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise InputError("this is not JSON", where=name) from None
    if not isinstance(found, dict):
        raise InputError("this JSON holds no keys with values", where=name)
    return found


def _name(file: str, config: Mapping[str, object]) -> str:
    """A file with a name of its own gives it to the model: `mine_config.json`, `mine.json`."""
    stem = PurePath(file).stem.removesuffix("config").rstrip("_-. ")
    return stem or name_of(config)


def _side_name(file: str) -> str:
    """`x_hf_quant_config.json` is `hf_quant_config.json`."""
    known = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
    return next((name for name in known if file.endswith(name)), file)
