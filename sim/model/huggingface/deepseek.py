"""Multi-head latent attention: DeepSeek V2, V3, V3.2, Kimi K2, GLM-5."""

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts, has_experts, routed_layers
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.llama import mtp_parameters
from sim.model.huggingface.parts import Stack, dense_mlp, stack
from sim.model.mixers import Latent


def parse(fields: Fields) -> Stack:
    """Return the stack; `num_key_value_heads` and `head_dim` mean nothing to latent attention."""
    fields.ignore("num_key_value_heads", "head_dim", "qk_head_dim", "qk_nope_head_dim")
    mixer = latent(fields)
    norms = 2 * fields.count("hidden_size")
    routed = routed_layers(fields) if has_experts(fields) else (False,) * _layers(fields)
    moe = experts(fields) if any(routed) else None
    dense = None if all(routed) else dense_mlp(fields, fields.count("intermediate_size"))
    layers = [Layer(mixer, moe if sparse else dense, norms) for sparse in routed]
    fields.ignore("intermediate_size")
    return stack(fields, layers, mtp=mtp_parameters(fields, layers[-1]))


def _layers(fields: Fields) -> int:
    return fields.count("num_hidden_layers")


def latent(fields: Fields) -> Latent:
    """Return latent attention, with the indexer of sparse attention where there is one."""
    hidden, heads = fields.count("hidden_size"), fields.count("num_attention_heads")
    query_rank, kv_rank = fields.optional("q_lora_rank"), fields.count("kv_lora_rank")
    rope = fields.count("qk_rope_head_dim")
    # `attention_bias` puts biases on the two down-projections and on the output.
    bias = fields.flag("attention_bias")
    sparse = fields.has("index_topk")
    return Latent(
        heads=heads,
        query_rank=query_rank,
        kv_rank=kv_rank,
        nope_dim=fields.count("qk_nope_head_dim"),
        rope_dim=rope,
        value_dim=fields.count("v_head_dim"),
        top_k_tokens=fields.count("index_topk") if sparse else None,
        indexer_heads=fields.count("index_n_heads") if sparse else 0,
        indexer_dim=fields.count("index_head_dim") if sparse else 0,
        bias_elements=(query_rank or 0) + kv_rank + rope + hidden if bias else 0,
    )
