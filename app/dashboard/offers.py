"""What the lists of the sidebar offer: the catalog, and the scenario's own value."""

from collections.abc import Iterable
from typing import Final, TypeVar

from app.dashboard.arrivals import KINDS as KINDS_OF_ARRIVALS
from app.dashboard.choices import FIXED, NO_PRICE, OWN_PRICE, SPLIT, SPREAD, price_name
from app.dashboard.denoising import CACHES
from app.dashboard.drafters import AS_SERVED
from app.dashboard.speculation import OWN, UNSTATED
from app.dashboard.strategies import KINDS
from sim.decoding import list_acceptance, load_acceptance
from sim.economics.price_list import list_price_lists, load_price_list
from sim.hardware import list_engines, list_gpus
from sim.model.load import list_models
from sim.workload import list_workloads

T = TypeVar("T")

WEIGHTS: Final = ("checkpoint", "bf16", "fp8", "int8", "int4", "mxfp4", "nvfp4")
KV_PRECISIONS: Final = ("bf16", "fp8")
MOST_REPLICAS: Final = 512
_WIDTHS: Final = (1, 2, 4, 8)
_GROUPS: Final = (1, 2, 4, 8, 16, 32)
_RATES: Final = (
    *(0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8),
    *(8.5, 9, 9.5, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 25, 28, 32, 36, 40, 45, 50, 60, 70),
    *(80, 90, 100, 120, 150, 200, 250, 300, 400, 500),
)
"""Requests per second, in steps that grow with the rate."""
_USERS: Final = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048)


def models(own: str, uploaded: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the models that were uploaded, and those of the catalog."""
    return _with((*uploaded, *list_models()), own)


def weights(own: str) -> tuple[str, ...]:
    """Return the formats of the weights; `checkpoint` is as published."""
    return _with(WEIGHTS, own)


def kv_precisions(own: str) -> tuple[str, ...]:
    """Return the formats of the KV cache."""
    return _with(KV_PRECISIONS, own)


def experts(own: str) -> tuple[str, ...]:
    """Return the ways to lay out experts over the GPUs of a replica."""
    return _with((SPLIT, SPREAD), own)


def attention_data_parallel(own: int) -> tuple[int, ...]:
    """Return the numbers of groups that attend to sequences of their own."""
    return tuple(sorted({*_GROUPS, own}))


def strategies(own: str) -> tuple[str, ...]:
    """Return the kinds of decoding strategies."""
    return _with(KINDS, own)


def acceptances(own: str, model: str) -> tuple[str, ...]:
    """Return where acceptance may come from: tables of a served model, own figures, other tables.

    What is to be chosen stands first, unless the scenario says it.
    """
    tables = list_acceptance()
    mine = [name for name in tables if model in load_acceptance(name).models]
    others = [name for name in tables if name not in mine]
    first = [UNSTATED] if own == UNSTATED else []
    return _with((*first, *mine, *OWN, *others), own)


def draft_formats(own: str) -> tuple[str, ...]:
    """Return the formats of a drafter's weights, or of its cache."""
    return _with((AS_SERVED, *WEIGHTS[1:]), own)


def caches(own: str) -> tuple[str, ...]:
    """Return the caches of full-sequence diffusion."""
    return _with(CACHES, own)


def gpus(own: str) -> tuple[str, ...]:
    """Return the GPUs that have a profile."""
    return _with(list_gpus(), own)


def engines(own: str) -> tuple[str, ...]:
    """Return the presets of engines."""
    return _with(list_engines(), own)


def tensor_parallel(own: int) -> tuple[int, ...]:
    """Return the widths of a replica, GPUs."""
    return tuple(sorted({*_WIDTHS, own}))


def loads(own: float, *, users: bool) -> tuple[float, ...]:
    """Return the steps of the load: users at once, or requests per second."""
    return tuple(sorted({*map(float, _USERS if users else _RATES), own}))


def arrivals(own: str) -> tuple[str, ...]:
    """Return the kinds of arrivals that take any rate."""
    return _with(KINDS_OF_ARRIVALS, own)


def lengths(own: str) -> tuple[str, ...]:
    """Return the presets of lengths, and fixed ones."""
    return _with((*list_workloads(), FIXED), own)


def prices(own: str) -> tuple[str, ...]:
    """Return the price lists with the terms that each one has."""
    names = [
        price_name(name, term)
        for name in list_price_lists()
        for term in sorted({quote.term for quote in load_price_list(name).prices})
    ]
    return _with((*names, OWN_PRICE, NO_PRICE), own)


def _with(offered: Iterable[T], own: T) -> tuple[T, ...]:
    options = tuple(offered)
    return options if own in options else (*options, own)
