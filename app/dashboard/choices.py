"""What the sidebar of Explore can say, and the scenario that it means. No widgets here."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from app.dashboard import arrivals as arrivals_list
from app.dashboard import engines, strategies
from sim.deployment import Deployment
from sim.economics.prices import PriceChoice
from sim.errors import InputError
from sim.hardware import load_gpu
from sim.model import load_model
from sim.scenario import Scenario, build_scenario
from sim.workload import ClosedLoop, Fixed, Quantiles, Workload

OWN_PRICE: Final = "own price"
NO_PRICE: Final = "none"
FIXED: Final = "fixed"
AS_LISTED: Final = arrivals_list.AS_LISTED
"""A value of the scenario that the widgets cannot spell out, kept as it is."""
SPLIT: Final = "split"
SPREAD: Final = "spread"
_TARGETS: Final = ("ttft_ms", "tpot_ms", "ttlt_ms", "max_gap_ms")
_ARRIVALS: Final = tuple(field.name for field in fields(arrivals_list.ArrivalKnobs))
OWN_SOURCE: Final = "own figure, entered on the page"


@dataclass(frozen=True, kw_only=True)
class Choices(strategies.Knobs, engines.EngineKnobs, arrivals_list.ArrivalKnobs):
    """One value per widget, in the units that the widget shows."""

    model: str
    gpu: str
    weights: str
    kv_precision: str
    tensor_parallel: int
    attention_data_parallel: int
    experts: str
    """Whether each expert is split over the GPUs of a replica, or all are spread over them."""
    replicas: int
    load: float
    """Requests per second, or users at once where the scenario is a closed loop."""
    lengths: str
    input_tokens: int
    output_tokens: int
    ttft_ms: float
    """0 asks nothing."""
    tpot_ms: float
    ttlt_ms: float
    max_gap_ms: float
    attainment_percent: float
    """Share of the requests that must meet every target."""
    price: str
    usd_per_gpu_hour: float


def is_closed_loop(scenario: Scenario) -> bool:
    """Tell whether the load is a number of users instead of a rate."""
    return isinstance(scenario.workload.arrivals, ClosedLoop)


def choices_of(scenario: Scenario) -> Choices:
    """Return what the widgets show for a scenario."""
    deployment, slo, arrivals = scenario.deployment, scenario.slo, scenario.workload.arrivals
    rate = scenario.workload.offered_requests_per_s
    inputs, outputs = _text_tokens(scenario.workload)
    return Choices(
        model=scenario.model if isinstance(scenario.model, str) else AS_LISTED,
        **asdict(strategies.knobs_of(scenario)),
        gpu=scenario.hardware,
        weights=deployment.weights,
        kv_precision=deployment.kv_precision,
        tensor_parallel=deployment.tensor_parallel,
        attention_data_parallel=deployment.attention_data_parallel,
        experts=_experts_of(deployment),
        replicas=deployment.replicas,
        load=float(arrivals.users) if isinstance(arrivals, ClosedLoop) else rate or 1.0,
        **engines.values_of(scenario),
        **arrivals_list.values_of(scenario.workload),
        lengths=_lengths_of(scenario),
        input_tokens=round(inputs),
        output_tokens=round(outputs),
        ttft_ms=slo.ttft_ms or 0.0,
        tpot_ms=slo.tpot_ms or 0.0,
        ttlt_ms=slo.ttlt_ms or 0.0,
        max_gap_ms=slo.max_gap_ms or 0.0,
        attainment_percent=round(100 * slo.attainment, 6),
        price=_price_of(scenario.prices),
        usd_per_gpu_hour=(scenario.prices and scenario.prices.usd_per_gpu_hour) or 3.0,
    )


def scenario_of(choices: Choices, base: Scenario) -> Scenario:
    """Return `base` with the choices written into it; raises one sentence where they clash."""
    content, before = as_keys(base), choices_of(base)
    if choices.model != AS_LISTED:
        content["model"] = choices.model
    content["hardware"] = choices.gpu
    content["deployment"] |= {
        "weights": choices.weights,
        "kv_precision": choices.kv_precision,
        "tensor_parallel": choices.tensor_parallel,
        "attention_data_parallel": choices.attention_data_parallel,
        "expert_parallel": _expert_parallel(choices, base),
        "replicas": choices.replicas,
    }
    content["decoding"] = strategies.decoding_of(choices, base, _ways(content["model"]))
    content["workload"] = _workload_of(choices, before, base, content["workload"])
    engines.write(content, choices, before)
    for target in _TARGETS:
        content["slo"][target] = getattr(choices, target) or None
    if choices.attainment_percent != before.attainment_percent:
        content["slo"]["attainment"] = choices.attainment_percent / 100
    content["prices"] = _prices_of(choices, base)
    return build_scenario(content, where="Explore", folder=Path())


def as_keys(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as the keys of its file."""
    return scenario.model_dump(mode="json", by_alias=True, exclude_none=True)


def priced(scenario: Scenario) -> tuple[Scenario, str | None]:
    """Return the scenario, without a price and with the reason where its list has none."""
    if scenario.prices is None:
        return scenario, None
    try:
        scenario.prices.resolve(load_gpu(scenario.hardware).name)
    except InputError as error:
        return scenario.model_copy(update={"prices": None}), f"no price: {error.problem}"
    return scenario, None


def _ways(model: str | Mapping[str, Any]) -> tuple[str, ...]:
    """Return the families of strategies that a model was trained for."""
    return _ways_by_name(model) if isinstance(model, str) else load_model(model).decoding


@cache
def _ways_by_name(model: str) -> tuple[str, ...]:
    return load_model(model).decoding


def _experts_of(deployment: Deployment) -> str:
    if deployment.expert_parallel == 1:
        return SPLIT
    stage = deployment.tensor_parallel * deployment.attention_data_parallel
    return SPREAD if deployment.expert_parallel == stage else AS_LISTED


def _expert_parallel(choices: Choices, base: Scenario) -> int:
    if choices.experts == AS_LISTED:
        return base.deployment.expert_parallel
    stage = choices.tensor_parallel * choices.attention_data_parallel
    return stage if choices.experts == SPREAD else 1


def _text_tokens(workload: Workload) -> tuple[float, float]:
    """Return the lengths that are fixed, or the mean ones of a request."""
    prompt, answer = workload.input_tokens, workload.output_tokens
    if isinstance(prompt, Fixed) and isinstance(answer, Fixed):
        return prompt.tokens, answer.tokens
    return workload.mean_tokens()


def _lengths_of(scenario: Scenario) -> str:
    prompt, answer = scenario.workload.input_tokens, scenario.workload.output_tokens
    if isinstance(prompt, Fixed) and isinstance(answer, Fixed):
        return FIXED
    if isinstance(prompt, Quantiles) and isinstance(answer, Quantiles):
        same = prompt.preset if prompt.preset == answer.preset else None
        return same or AS_LISTED
    return AS_LISTED


def _workload_of(
    choices: Choices, before: Choices, base: Scenario, keys: Mapping[str, Any]
) -> dict[str, Any]:
    workload = dict(keys)
    if choices.load != before.load:
        changed = (
            base.workload.with_users(round(choices.load))
            if is_closed_loop(base)
            else base.workload.with_rate(choices.load)
        )
        workload = changed.model_dump(mode="json", by_alias=True, exclude_none=True)
    as_before = all(getattr(choices, name) == getattr(before, name) for name in _ARRIVALS)
    if not (as_before or choices.arrivals == AS_LISTED or is_closed_loop(base)):
        workload["arrivals"] = arrivals_list.keys_of(choices, choices.load)
    if choices.lengths == AS_LISTED:
        return workload
    if choices.lengths == FIXED:
        workload["input_tokens"] = {"kind": "fixed", "tokens": choices.input_tokens}
        workload["output_tokens"] = {"kind": "fixed", "tokens": choices.output_tokens}
    elif choices.lengths != before.lengths:
        preset = {"kind": "quantiles", "preset": choices.lengths}
        workload |= {"input_tokens": preset, "output_tokens": preset}
        if isinstance(workload.get("length_correlation"), str):
            workload["length_correlation"] = choices.lengths
    return workload


def price_name(list_name: str, term: str) -> str:
    """Return a price list and term as one choice."""
    return f"{list_name} {term.replace('_', ' ')}"


def _price_of(prices: PriceChoice | None) -> str:
    if prices is None:
        return NO_PRICE
    if prices.list_name is None:
        return OWN_PRICE
    return price_name(prices.list_name, prices.term or "on_demand")


def _prices_of(choices: Choices, base: Scenario) -> dict[str, Any] | None:
    before = base.prices
    if choices.price == NO_PRICE:
        return None
    own = choices.price == OWN_PRICE
    if before is not None and choices.price == _price_of(before):
        same = not own or before.usd_per_gpu_hour == choices.usd_per_gpu_hour
        if same:
            return before.model_dump(mode="json", by_alias=True, exclude_none=True)
    if own:
        usd = choices.usd_per_gpu_hour
        return {"usd_per_gpu_hour": usd, "source": OWN_SOURCE, "as_of": "undated"}
    name, _, term = choices.price.partition(" ")
    return {"list": name, "term": term.replace(" ", "_")}
