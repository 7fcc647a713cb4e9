"""Mixtures of experts: how many, how wide, in which layers."""

from sim.model.huggingface.fields import Fields
from sim.model.mlps import Experts

_COUNT = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
_ACTIVE = ("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_k",
           "moe_topk", "top_k_experts", "num_selected_experts")  # fmt: skip
_SHARED = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
_SHARED_WIDTH = ("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                 "shared_intermediate_size")  # fmt: skip


def has_experts(fields: Fields) -> bool:
    """Whether the model routes: it names more than no experts."""
    return any(fields.content.get(key) for key in _COUNT)


def experts(
    fields: Fields, *, width: int | None = None, gated: bool = True, shared_gate: bool = False
) -> Experts:
    """Return the experts of one layer, from any of the names that families give the same fields.

    The correction that routing without an auxiliary loss adds (one number per expert, not
    trained by gradients) is no parameter, and publishers do not count it.
    """
    count, hidden = fields.count(*_COUNT), fields.count("hidden_size")
    active = fields.count(*_ACTIVE)
    if active > count:
        fields.refuse(_ACTIVE[0], f"asks for {active} of {count} experts")
    width = width or fields.optional("moe_intermediate_size", "expert_intermediate_size")
    width = width or fields.count("intermediate_size")
    number = fields.amount(*_SHARED)
    given = fields.amount(*_SHARED_WIDTH)
    # Some give the width of one shared expert and their number, some the width of the only one.
    shared = (given or width) * number if number is not None else given or 0
    return Experts(
        experts=count,
        active=active,
        intermediate_size=width,
        gated=gated,
        shared_intermediate_size=shared,
        shared_gate=shared_gate and shared > 0,
        router_elements=hidden * count,
    )


def routed_layers(fields: Fields) -> tuple[bool, ...]:
    """Return for each layer whether it routes, from whichever fields the family uses."""
    layers = fields.count("num_hidden_layers")
    given = fields.items("mlp_layer_types")
    if given is not None:
        if len(given) != layers or not set(given) <= {"dense", "sparse"}:
            fields.refuse("mlp_layer_types", f"should say dense or sparse for {layers} layers")
        return tuple(kind == "sparse" for kind in given)
    frequency = fields.content.get("moe_layer_freq")
    if isinstance(frequency, list):
        fields.ignore("moe_layer_freq")
        if len(frequency) != layers:
            fields.refuse("moe_layer_freq", f"has {len(frequency)} entries for {layers} layers")
        return tuple(bool(entry) for entry in frequency)
    if fields.has("moe_layer_start_index"):
        return _between(fields, layers)
    first = fields.amount("first_k_dense_replace", "num_dense_layers") or 0
    dense = set(fields.items("mlp_only_layers") or ())
    step = fields.optional("decoder_sparse_step") or 1
    frequency = fields.optional("moe_layer_freq") or 1
    return tuple(
        index >= first
        and index not in dense
        and (index + 1) % step == 0
        and index % frequency == 0
        for index in range(layers)
    )


def _between(fields: Fields, layers: int) -> tuple[bool, ...]:
    """ERNIE 4.5 routes from a first to a last layer (-1: the end), every so many."""
    first = fields.amount("moe_layer_start_index") or 0
    last = fields.content.get("moe_layer_end_index", -1)
    fields.ignore("moe_layer_end_index")
    if not isinstance(last, int):
        fields.refuse("moe_layer_end_index", f"should be a whole number, found {last!r}")
    end = layers - 1 if last < 0 else last
    interval = fields.optional("moe_layer_interval") or 1
    return tuple(first <= index <= end and (index + 1) % interval == 0 for index in range(layers))
