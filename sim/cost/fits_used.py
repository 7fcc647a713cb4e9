"""Which parts of a fitted profile a pass goes by."""

from sim.cost.collectives import spans_nodes
from sim.cost.layers import Layers
from sim.cost.layout import Layout
from sim.hardware import GpuProfile
from sim.precision import Precision


def fits_used(layers: Layers, layout: Layout, gpu: GpuProfile, kv: Precision) -> tuple[str, ...]:
    """Return the parts by their dotted names, as `FittedProfile.origin_of` takes them."""
    names = {"layer_overhead", f"gemm.{layers.head.format.computed}"}
    names |= {f"gemm.{gemm.format.computed}" for gemm, _ in layers.gemms}
    for kind in layers.attention:
        names.add(f"{'latent' if kind.latent else 'decode'}_attention.{kv}")
        names.add("prefill_attention")
    if layers.experts:
        names.add(f"experts.{layers.expert_format.stored}")
    if layers.recurrent:
        names.add("recurrent")
    return tuple(sorted(names | set(_collectives(layers, layout, gpu))))


def _collectives(layers: Layers, layout: Layout, gpu: GpuProfile) -> list[str]:
    """Exchanges between GPUs: inside a node, or over the network where their group spans nodes."""
    groups = []
    if layout.tensor > 1:
        groups.append(("all_reduce", layout.tensor))
    if layout.attention_data > 1 and layers.experts:
        exchange = "all_to_all" if layout.expert > 1 else "all_gather"
        groups.append((exchange, layout.stage_gpus))
    if layout.pipeline > 1:
        groups.append(("point_to_point", layout.stage_gpus * layout.pipeline))
    return [f"network.{name}" if spans_nodes(gpus, gpu) else name for name, gpus in groups]
