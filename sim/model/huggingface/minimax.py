"""MiniMax-Text-01 and M1: seven layers of lightning attention, then one of softmax attention."""

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import Stack, attention, checked_layers, head_dim, stack
from sim.model.recurrences import lightning


def parse(fields: Fields) -> Stack:
    """Return the stack; the factors of the residual branches are scalars."""
    fields.ignore(*(key for key in fields.content if key.endswith(("_alpha", "_beta", "_factor"))))
    fields.ignore("postnorm", "block_size", "shared_moe_mode", "layernorm_full_attention_alpha")
    if fields.amount("shared_intermediate_size"):
        fields.refuse("shared_intermediate_size", "is not understood")
    hidden, width = fields.count("hidden_size"), head_dim(fields)
    full = attention(fields, width=width)
    linear = lightning(hidden, heads=fields.count("num_attention_heads"), head_dim=width)
    moe = experts(fields, width=fields.count("intermediate_size"))
    layers = [
        Layer(full if is_full else linear, moe, 2 * hidden) for is_full in _full_layers(fields)
    ]
    return stack(fields, layers)


def _full_layers(fields: Fields) -> tuple[bool, ...]:
    """`attn_type_list` says 1 for softmax attention; `layer_types` says it in words."""
    numbers, words = fields.items("attn_type_list"), fields.items("layer_types")
    if numbers:
        return tuple(kind == 1 for kind in checked_layers(fields, numbers, "attn_type_list"))
    if words:
        return tuple(kind == "full_attention" for kind in checked_layers(fields, words))
    layers = fields.count("num_hidden_layers")
    return tuple(index % 2 == 1 for index in range(layers))
