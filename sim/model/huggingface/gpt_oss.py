"""gpt-oss: biases everywhere, attention sinks, every second layer in a window of 128."""

from dataclasses import replace

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import Stack, attention, head_dim, stack, windows


def parse(fields: Fields) -> Stack:
    """Return the stack."""
    hidden, width = fields.count("hidden_size"), head_dim(fields, 64)
    bias = fields.flag("attention_bias", default=True)
    moe = experts(fields)
    moe = replace(
        moe,
        # Gate and up share one bias of twice the width; the last one is as wide as the model.
        bias_elements=2 * moe.intermediate_size + hidden,
        router_elements=moe.router_elements + moe.experts,
    )
    layers = []
    # Layer 0 slides, layer 1 is full, and so on, where `layer_types` is left out.
    for window in windows(fields, pattern=2, default=128):
        mixer = attention(
            fields, width=width, qkv_bias=bias, output_bias=bias, window_tokens=window
        )
        layers.append(Layer(replace(mixer, sinks=True), moe, 2 * hidden))
    return stack(fields, layers, context_tokens=131_072)
