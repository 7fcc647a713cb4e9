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
        names.add(f"{'latent_prefill' if kind.latent else 'prefill_attention'}.{kv}")
    if layers.experts:
        names.add(f"experts.{layers.expert_format.stored}")
    if layers.recurrent:
        names.add("recurrent")
    # inside a node, or over the network where the group spans nodes
    for name, gpus in layout.exchanges(experts=bool(layers.experts)).items():
        names.add(f"network.{name}" if spans_nodes(gpus, gpu) else name)
    return tuple(sorted(names))
