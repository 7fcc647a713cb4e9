"""What the page says where there is no answer, and the buttons that repair it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

import streamlit as st

from app.dashboard import offers, state
from app.dashboard.choices import Choices, is_closed_loop, scenario_of
from app.dashboard.markdown import escape
from sim.errors import DoesNotFitError, SimError
from sim.model import load_model
from sim.report.answer import stored_label
from sim.report.words import deployment_label, gigabytes, gpu_full_label, number
from sim.run import Outcome
from sim.scenario import Scenario, resolve
from sim.units import GB

HEADROOM: Final = 1.1
"""Capacity over load after a repair: at the sustainable rate itself a queue still grows."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A button and the widgets that it sets."""

    label: str
    changes: dict[str, object]


def does_not_fit(
    error: DoesNotFitError, scenario: Scenario, choices: Choices, base: Scenario
) -> None:
    """Say what does not fit and by how much, and offer what does."""
    deployment, name = scenario.deployment, load_model(scenario.model).name
    replica = deployment_label(scenario.hardware, 1, deployment.gpus_per_replica)
    stored = stored_label(deployment.weights)
    st.markdown(f"### {name} {stored} does not fit on {replica}")
    over = (error.need_bytes - error.have_bytes) / GB
    st.error(
        f"Weights, engine reserve and one block of KV cache need {gigabytes(error.need_bytes)} on"
        f" each GPU, {number(over)} GB more than the {gigabytes(error.have_bytes)} it offers.",
        icon=":material/memory:",
    )
    _draw(tuple(repairs_of_fit(choices, base)))


def refused(error: SimError) -> None:
    """Say in one sentence what is wrong with the choices."""
    st.markdown("### These choices do not go together")
    text = str(error).removeprefix("Explore: ")
    st.error(escape(f"{text[:1].upper()}{text[1:]}."), icon=":material/error:")


def overloaded(outcome: Outcome, choices: Choices) -> None:
    """Offer more replicas, or less traffic."""
    _draw(tuple(repairs_of_overload(outcome, choices)))


def repairs_of_fit(choices: Choices, base: Scenario) -> Iterator[Repair]:
    """Yield changes after which the model fits: the first of each kind that does."""
    wider = [
        Repair(f"Use tensor parallel {width}", {"tensor_parallel": width})
        for width in offers.tensor_parallel(choices.tensor_parallel)
        if width > choices.tensor_parallel
    ]
    lighter = [
        Repair(f"Store weights in {weights}", {"weights": weights}) for weights in ("fp8", "int4")
    ]
    larger = [
        Repair(f"Use {gpu_full_label(gpu)}", {"gpu": gpu}) for gpu in offers.gpus(choices.gpu)
    ]
    for kind in (wider, lighter, larger):
        found = next((repair for repair in kind if _fits(repair, choices, base)), None)
        if found is not None:
            yield found


def repairs_of_overload(outcome: Outcome, choices: Choices) -> Iterator[Repair]:
    """Yield changes after which the deployment should keep up."""
    offered = outcome.scenario.workload.offered_requests_per_s
    sustained = outcome.metrics.sustainable_requests_per_s
    if offered is None or sustained is None or is_closed_loop(outcome.scenario):
        return
    replicas = ceil(choices.replicas * offered / sustained * HEADROOM)
    if choices.replicas < replicas <= offers.MOST_REPLICAS:
        yield Repair(f"Use {replicas} replicas", {"replicas": replicas})
    slower = [
        load for load in offers.loads(choices.load, users=False) if load * HEADROOM <= sustained
    ]
    if slower:
        yield Repair(f"Serve {slower[-1]:g} requests/s", {"load": slower[-1]})


def _fits(repair: Repair, choices: Choices, base: Scenario) -> bool:
    try:
        resolve(scenario_of(replace(choices, **repair.changes), base))  # type: ignore[arg-type]
    except SimError:
        return False
    return True


def _draw(repairs: tuple[Repair, ...]) -> None:
    # White on the pale accent of the dark theme could not be read.
    light = st.context.theme.type != "dark"
    with st.container(horizontal=True):
        for place, repair in enumerate(repairs):
            st.button(
                repair.label,
                type="primary" if light and place == 0 else "secondary",
                on_click=state.set_choices,
                args=(repair.changes,),
            )
