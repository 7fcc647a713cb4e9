"""Fields of configurations that change no count: tokens, training, positions, housekeeping."""

import re
from typing import Final

_LIST: Final = """
_attn_implementation _attn_implementation_autoset _commit_hash _name_or_path act_fn
activation_function add_cross_attention add_faster_video architectures attn_implementation
attn_mechanism audio_token auto_map aux_loss_alpha bad_words_ids begin_suppress_tokens
block_length cache_implementation canvas_length chunk_size_feed_forward clip_qkv
custom_generation custom_pipelines debug decoder_start_token_id diversity_penalty do_sample dtype
early_stopping embedding_initializer encoder_no_repeat_ngram_size eos_token ep_size
expert_capacity exponential_decay_length_penalty finetuning_task flash_attention
forced_bos_token_id forced_eos_token_id gradient_checkpointing head_dtype hidden_act
hidden_activation id2label ignore_index image_break_token_index image_seq_length
indexer_rope_interleave init_cutoff_factor init_device init_fn init_std initial_context_length
initializer_cutoff_factor is_decoder is_encoder_decoder keep_in_fp32 keys_to_ignore label2id
language_model_only length_penalty logit_scale logits_scaling long_factor low_cpu_mem_usage
mamba_act mamba_hidden_act mamba_ssm_cache_dtype mamba_ssm_dtype max_length max_new_tokens
max_window_layers min_length mlp_hidden_act mm_tokens_per_image moe_capacity moe_gate
moe_norm_min moe_router_dtype moe_router_enable_expert_bias moe_router_topk_scaling_factor
moe_use_aux_free mrope_section mscale mscale_all_dim mup_width_multiplier n_group
no_repeat_ngram_size no_rope_layer_interval no_rope_layers nope_layer_interval
norm_moe_routing_prob norm_topk_prob num_beam_groups num_beams num_logits_to_keep
num_return_sequences orig_vocab_size original_max_position_embeddings output_attentions
output_hidden_states output_past output_router_logits output_scores pad_token
partial_rotary_factor prefix pretraining_tp problem_type projection_activation
projector_hidden_act pruned_heads qk_rope_interleave quantization_version query_pre_attn_scalar
remove_invalid_values repetition_penalty rescale_prenorm_residual residual_in_fp32 return_dict
return_dict_in_generate rotary_base rotary_dim rotary_emb_base rotary_emb_fraction rotary_pct
routed_scaling_factor router_bias_update_speed router_dtype router_jitter_noise scale_depth
scale_emb score_func score_function scoring_func seed sep_token_id seq_aux seq_len seq_length
short_factor spatial_merge_size suppress_tokens swiglu_limit task_specific_params temperature
tensor_parallel_degree tf_legacy_loss time_step_floor time_step_limit time_step_max time_step_min
tokenizer_class top_k top_p topk_group topk_method torch_dtype torchscript transformers.js_config
transformers_version typical_p unsloth_fixed unsloth_version upcast_attn use_bfloat16 use_cache
use_expert_bias use_flash_attention use_flash_attn use_fused_rms_norm use_fused_rope
use_grouped_topk use_logits_to_keep use_mamba_kernels use_rmsnorm use_rope use_router_logits
use_routing_bias use_sdpa use_triton_kernels use_unified_vision_chunk video_placeholder
video_processor video_seq_length vision_feature_layer vision_feature_select_strategy
vision_soft_tokens_per_image z_loss
"""

_NAMES: Final = frozenset(_LIST.split())
"""Known by name."""

_PATTERNS: Final = re.compile(
    r"""
    .*(_|^)(dropout|dropout_prob|dropout_p|pdrop)$         # training
    | .*_(loss_coef|loss_coeff|loss_weight|loss_alpha|loss_gamma|jitter|jitter_noise)$
    | .*(_|^)(eps|epsilon)$                                # norms
    | .*_(token|tokens)_(id|ids|index|indices)$            # tokens
    | (bos|eos|pad|unk|sep|cls|mask|image|video|audio)_token(_id|_index)?$
    | (.*_)?rope(_.*)?$ | (.*_)?rope_theta$ | rotary_.*    # positions
    | yarn_.* | mrope_.*
    | .*(_|^)(initializer_range|init_range|init_std|init_method|initializer_std)$
    | .*_(softcapping|softcap|soft_cap)$
    | .*_multiplier$ | .*_multipliers$                     # scalars (Granite, Falcon)
    | .*(_|^)(checkpointing|deterministic|_hidden_act)$
    | use_(flash|fused|triton|sdpa|cache|memory|liger|megablocks).*
    | (hf|swift|unsloth|wandb|deepspeed|ds)_.*
    """,
    re.VERBOSE,
)


_STRUCTURAL: Final = re.compile(r"dim|size|rank|heads|layers|experts|width|ffn|hidden_(?!act)")
"""A key that holds one of these may be a size, whatever pattern it also fits."""


def is_harmless(key: str) -> bool:
    """Whether a field changes no count in any family."""
    if key in _NAMES:
        return True
    return _PATTERNS.fullmatch(key) is not None and not _STRUCTURAL.search(key)
