"""What of a pass lies beyond the shapes that a fit was made on."""

from collections.abc import Iterator

from sim.cost.collectives import spans_nodes
from sim.cost.layers import Layers
from sim.cost.layout import Layout
from sim.deployment import Deployment
from sim.hardware import FittedProfile, GpuProfile
from sim.hardware.fitted import Collectives, Fit


def beyond_the_fits(
    layers: Layers, layout: Layout, gpu: GpuProfile, fitted: FittedProfile, deployment: Deployment
) -> tuple[str, ...]:
    """Return each part that goes by the plain form, with what is outside; fits by hand have none.

    Beyond the shapes that were timed a table of residuals fades out, and the smooth form goes on.
    """
    found = [
        *_products(layers, fitted, deployment),
        *_attention(layers, fitted, deployment),
        *_experts(layers, layout, fitted, deployment),
        *_collectives(layers, layout, gpu, fitted),
    ]
    return tuple(dict.fromkeys(found))


def _said(name: str, fit: Fit, **quantities: float) -> Iterator[str]:
    if fit.evidence is None:
        return
    outside = fit.evidence.outside(**quantities)
    if outside:
        what = ", ".join(f"{each.replace('_', ' ')} {quantities[each]:,g}" for each in outside)
        yield f"{name} ({what})"


def _products(layers: Layers, fitted: FittedProfile, deployment: Deployment) -> Iterator[str]:
    for gemm in (*(gemm for gemm, _ in layers.gemms), layers.head):
        fit = fitted.gemm[gemm.format.computed]
        tokens = 1.0 if gemm is layers.head else float(deployment.max_batched_tokens)
        yield from _said(gemm.name, fit, inner=gemm.inner, outer=gemm.outer, tokens=tokens)


def _attention(layers: Layers, fitted: FittedProfile, deployment: Deployment) -> Iterator[str]:
    kv = deployment.kv_precision
    for kind in layers.attention:
        decode = (fitted.latent_attention if kind.latent else fitted.decode_attention)[kv]
        prefill = (fitted.latent_prefill if kind.latent else fitted.prefill_attention)[kv]
        shared = kind.heads / kind.kv_heads
        layout = {"heads_per_kv": shared, "head_dim": float(kind.head_dim)}
        most = float(deployment.max_sequences * kind.kv_heads)
        yield from _said(f"decode {kind.name}", decode, **layout, items=max(most, 8.0))
        yield from _said(f"prefill {kind.name}", prefill, heads_per_kv=shared)


def _experts(
    layers: Layers, layout: Layout, fitted: FittedProfile, deployment: Deployment
) -> Iterator[str]:
    for _ in layers.experts:
        fit = fitted.experts[layers.expert_format.stored]
        tokens = float(deployment.max_batched_tokens * layout.attention_data)
        yield from _said("routed experts", fit, tokens=tokens, expert_parallel=layout.expert)


def _collectives(
    layers: Layers, layout: Layout, gpu: GpuProfile, fitted: FittedProfile
) -> Iterator[str]:
    for name, gpus in layout.exchanges(experts=bool(layers.experts)).items():
        fits: Collectives = fitted.network if spans_nodes(gpus, gpu) else fitted
        yield from _said(name.replace("_", " "), getattr(fits, name), ranks=float(gpus))
