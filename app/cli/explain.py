"""`paretoken explain`: one pass, operation by operation, and what fits into memory."""

from app.cli.compare import numbers
from app.cli.exits import ANSWER
from app.cli.output import emit_json, waiting
from app.cli.page import Page
from sim.errors import InputError
from sim.model.load import called
from sim.report.answer import bound_label
from sim.report.memory import memory_table
from sim.report.passes import (
    Explanation,
    explain,
    explanation_document,
    pass_table,
)
from sim.report.words import deployment_label, time_ms
from sim.scenario import load_scenario
from sim.units import counted


def explain_scenario(
    reference: str | None,
    overrides: list[str],
    *,
    alone: tuple[object, ...],
    batch: str | None,
    context: str | None,
    as_json: bool,
) -> int:
    """Break down one decode pass and one prefill; `alone` are options of a comparison only."""
    if reference is None:
        raise InputError(
            "nothing to explain",
            where="SCENARIO",
            remedy="name a scenario, or models to compare: --model A --model B",
        )
    if any(value is not None for value in alone):
        raise InputError(
            "--hardware, --tensor-parallel and --weights belong to a comparison of models",
            remedy="change the scenario with --set",
        )
    scenario = load_scenario(reference, overrides)
    with waiting(f"Looking for the typical batch of {scenario.name}"):
        explanation = explain(
            scenario, sequences=_one(batch, "--batch"), context_tokens=_one(context, "--context")
        )
    if as_json:
        emit_json(explanation_document(explanation))
        return ANSWER
    page = Page()
    page.line(_answer(explanation), style="bold")
    page.line(_ridge(explanation), style="dim")
    if explanation.kv_full:
        page.line(_kv_full(explanation))
    page.table(pass_table(explanation.decode))
    page.table(pass_table(explanation.prefill))
    page.table(memory_table(explanation.serving))
    page.show()
    return ANSWER


def _one(text: str | None, option: str) -> int | None:
    """Return the one number of an option that takes several only where models are compared."""
    found = numbers(text, option)
    if len(found) > 1:
        raise InputError(
            f"one number, found `{text}`",
            where=option,
            remedy="several are for --model A --model B",
        )
    return found[0] if found else None


def _answer(explanation: Explanation) -> str:
    scenario, decode = explanation.scenario, explanation.decode
    replica = deployment_label(
        explanation.serving.gpu.name, 1, scenario.deployment.gpus_per_replica
    )
    sequences = counted(explanation.batch.sequences, "sequence")
    longest = max(decode.operations, key=lambda operation: operation.total_s)
    return (
        f"A decode pass of {called(scenario.model, explanation.serving.model)} on {replica} takes "
        f"{time_ms(decode.total_s)} for {sequences}; the most of it goes to "
        f"{longest.name}, bound by {bound_label(longest.bound)}."
    )


def _kv_full(explanation: Explanation) -> str:
    batch, most = explanation.batch, explanation.most_sequences
    held = counted(most, "sequence") if most else "no sequence"
    return (
        f"KV full: the pool of a replica holds {held} of {counted(batch.context_tokens, 'token')}"
        f", not {batch.sequences:,}; an engine would not run this pass."
    )


def _ridge(explanation: Explanation) -> str:
    label = explanation.scenario.decoding.label
    ridge = explanation.ridge_tokens_per_pass
    if ridge is None:
        return f"{label}; memory-bound at any batch with this context"
    return f"{label}; a pass turns compute-bound from {counted(ridge, 'token')} on"
