"""`paretoken explain --model A --model B`: what the architecture of a model buys."""

from pathlib import Path
from typing import Any

from app.cli.exits import ANSWER
from app.cli.output import emit_json, waiting
from app.cli.page import Page
from sim.errors import InputError
from sim.planning.architecture import compare_architectures
from sim.report.architecture import (
    architecture_document,
    finding,
    refusals,
    replica_line,
)
from sim.report.architecture_tables import architecture_tables
from sim.scenario import Scenario, apply_overrides, build_scenario, load_scenario

BATCHES = (1, 8, 64, 256)
CONTEXTS = (1_000, 8_000, 32_000, 128_000)
HARDWARE = "h100_sxm"


def compare_models(
    models: list[str],
    reference: str | None,
    overrides: list[str],
    *,
    hardware: str | None,
    tensor_parallel: int | None,
    weights: str | None,
    batches: str | None,
    contexts: str | None,
    as_json: bool,
) -> int:
    """Compare a decode pass of several models on the same GPUs."""
    if len(models) < 2:
        raise InputError(
            "one model has nothing to compare with", where="--model", remedy="add one"
        )
    base = _base(
        reference,
        overrides,
        hardware=hardware,
        tensor_parallel=tensor_parallel,
        weights=weights,
        model=models[0],
    )
    chosen = any("deployment.tensor_parallel" in override for override in overrides)
    with waiting(f"Comparing {', '.join(models)}"):
        comparison = compare_architectures(
            models,
            base,
            batches=numbers(batches, "--batch") or BATCHES,
            contexts=numbers(contexts, "--context") or CONTEXTS,
            narrowest=tensor_parallel is None and reference is None and not chosen,
        )
    if as_json:
        emit_json(architecture_document(comparison))
        return ANSWER
    page = Page()
    page.line(finding(comparison), style="bold")
    page.line(replica_line(comparison), style="dim")
    for table in architecture_tables(comparison):
        page.table(table)
    page.points("Not served like this", refusals(comparison))
    page.show()
    return ANSWER


def numbers(text: str | None, option: str) -> tuple[int, ...]:
    """Return the numbers of an option that takes several, with commas; none where it is absent.

    >>> numbers("1,8,64", "--batch")
    (1, 8, 64)
    """
    if text is None:
        return ()
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise InputError(
            f"expected whole numbers from 1 on, with commas, found `{text}`",
            where=option,
            remedy=f"for example {option} 1,8,64",
        )
    return found


def _base(
    reference: str | None,
    overrides: list[str],
    *,
    hardware: str | None,
    tensor_parallel: int | None,
    weights: str | None,
    model: str,
) -> Scenario:
    """Return the replica: that of a scenario, or one of the GPU with published weights."""
    changes = list(overrides)
    for key, value in (
        ("hardware", hardware),
        ("deployment.tensor_parallel", tensor_parallel),
        ("deployment.weights", weights),
    ):
        if value is not None:
            changes.append(f"{key}={value}")
    if reference is not None:
        return load_scenario(reference, changes)
    content: dict[str, Any] = {
        "name": "comparison",
        "model": model,
        "hardware": HARDWARE,
        "deployment": {"weights": "checkpoint"},
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": 1},
            "input_tokens": {"kind": "fixed", "tokens": 1},
            "output_tokens": {"kind": "fixed", "tokens": 1},
        },
    }
    apply_overrides(content, changes)
    return build_scenario(content, where="--set", folder=Path())
