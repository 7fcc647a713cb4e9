"""`paretoken explain`: one pass, operation by operation, and what fits into memory."""

from app.cli.exits import ANSWER
from app.cli.output import emit_json, waiting
from app.cli.page import Page
from sim.report.answer import bound_label
from sim.report.passes import (
    Explanation,
    explain,
    explanation_document,
    memory_table,
    pass_table,
)
from sim.report.words import count, deployment_label, time_ms
from sim.scenario import load_scenario


def explain_scenario(
    reference: str,
    overrides: list[str],
    *,
    batch: int | None,
    context: int | None,
    as_json: bool,
) -> int:
    """Break down one decode pass and one prefill."""
    scenario = load_scenario(reference, overrides)
    with waiting(f"Looking for the typical batch of {scenario.name}"):
        explanation = explain(scenario, sequences=batch, context_tokens=context)
    if as_json:
        emit_json(explanation_document(explanation))
        return ANSWER
    page = Page()
    page.line(_answer(explanation), style="bold")
    page.line(_ridge(explanation), style="dim")
    page.table(pass_table(explanation.decode))
    page.table(pass_table(explanation.prefill))
    page.table(memory_table(explanation.serving))
    page.show()
    return ANSWER


def _answer(explanation: Explanation) -> str:
    scenario, decode = explanation.scenario, explanation.decode
    replica = deployment_label(
        explanation.serving.gpu.name, 1, scenario.deployment.gpus_per_replica
    )
    sequences = count(explanation.batch.sequences)
    longest = max(decode.operations, key=lambda operation: operation.total_s)
    return (
        f"A decode pass of {explanation.serving.model.name} on {replica} takes "
        f"{time_ms(decode.total_s)} for {sequences} sequences; the most of it goes to "
        f"{longest.name}, bound by {bound_label(longest.bound)}."
    )


def _ridge(explanation: Explanation) -> str:
    label = explanation.scenario.decoding.label
    ridge = explanation.ridge_tokens_per_pass
    if ridge is None:
        return f"{label}; memory-bound at any batch with this context"
    return f"{label}; a pass turns compute-bound from {count(ridge)} tokens on"
