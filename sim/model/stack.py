"""Layers in their order -> groups of equal layers."""

from collections.abc import Iterable

from sim.model.architecture import Layer, LayerGroup


def grouped(layers: Iterable[Layer]) -> tuple[LayerGroup, ...]:
    """Count equal layers, in the order in which each kind first appears."""
    counts: dict[Layer, int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + 1
    return tuple(LayerGroup(layer, count) for layer, count in counts.items())
