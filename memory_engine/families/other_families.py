"""Families with other pairings, other position encodings, or other caches than KV."""

from typing import Any

from memory_engine.families.family import LAYERS, Family, shaped


def _old(architecture: str, model_type: str, **changes: Any) -> dict[str, Any]:
    """A config.json of a family that has its own names for the shape."""
    shape = {"vocab_size": 512, "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": True}
    return {"architectures": [architecture], "model_type": model_type} | shape | changes


def _glm(architecture: str, model_type: str, **changes: Any) -> dict[str, Any]:
    options = {"partial_rotary_factor": 0.5, "attention_bias": True} | changes
    return shaped(architecture, model_type, **options)


def _falcon(**changes: Any) -> dict[str, Any]:
    shape = {"hidden_size": 128, "num_attention_heads": 4, "num_hidden_layers": LAYERS}
    return _old("FalconForCausalLM", "falcon", bias=False, **shape, **changes)


_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2}

PARTIAL = (
    Family("GLM-4", "partial rotary, GPT-J pairing", _glm("Glm4ForCausalLM", "glm4")),
    Family(
        "GLM",
        "partial rotary, GPT-J pairing, run through Transformers",
        _glm("GlmForCausalLM", "glm"),
    ),
    Family("GLM, bf16", "the same, rounded", _glm("GlmForCausalLM", "glm"), "bfloat16"),
    Family(
        "GLM-4 MoE",
        "partial rotary, NeoX pairing, QK-norm, experts",
        _glm(
            "Glm4MoeForCausalLM",
            "glm4_moe",
            n_routed_experts=4,
            num_experts_per_tok=2,
            moe_intermediate_size=64,
            n_shared_experts=1,
            first_k_dense_replace=1,
            use_qk_norm=True,
            hidden_act="silu",
        ),
    ),
    Family(
        "GPT-J",
        "GPT-J pairing, partial rotary",
        _old(
            "GPTJForCausalLM",
            "gptj",
            n_embd=128,
            n_head=4,
            n_layer=LAYERS,
            n_positions=512,
            rotary_dim=16,
            tie_word_embeddings=False,
        ),
    ),
    Family(
        "GPT-NeoX",
        "partial rotary, run through Transformers",
        shaped("GPTNeoXForCausalLM", "gpt_neox", rotary_pct=0.25, num_key_value_heads=4),
    ),
    Family(
        "StableLM",
        "partial rotary",
        shaped("StableLmForCausalLM", "stablelm", partial_rotary_factor=0.25, layer_norm_eps=1e-5),
    ),
    Family(
        "Nemotron",
        "partial rotary",
        shaped("NemotronForCausalLM", "nemotron", partial_rotary_factor=0.5, hidden_act="relu2"),
    ),
)

PLAIN = (
    Family(
        "Granite",
        "scaled embeddings, attention and logits",
        shaped(
            "GraniteForCausalLM",
            "granite",
            embedding_multiplier=2.0,
            attention_multiplier=0.2,
            residual_multiplier=0.5,
            logits_scaling=0.5,
        ),
    ),
    Family(
        "OLMo 2",
        "QK-norm over all heads, run through Transformers",
        shaped("Olmo2ForCausalLM", "olmo2"),
    ),
    Family("OLMoE", "QK-norm, experts", shaped("OlmoeForCausalLM", "olmoe", **_EXPERTS)),
    Family(
        "StarCoder2",
        "biased projections, run through Transformers",
        shaped("Starcoder2ForCausalLM", "starcoder2", sliding_window=None),
    ),
    Family("Falcon", "fused projections, MQA", _falcon(multi_query=True, alibi=False)),
)

POSITIONS = (
    Family("Falcon, ALiBi", "ALiBi", _falcon(multi_query=False, alibi=True)),
    Family(
        "BLOOM", "ALiBi", _old("BloomForCausalLM", "bloom", hidden_size=128, n_head=4, n_layer=4)
    ),
    Family(
        "GPT-2",
        "learned positions",
        _old("GPT2LMHeadModel", "gpt2", n_embd=128, n_head=4, n_layer=LAYERS, n_positions=512),
    ),
    Family(
        "OPT",
        "learned positions",
        _old(
            "OPTForCausalLM",
            "opt",
            hidden_size=128,
            word_embed_proj_dim=128,
            ffn_dim=192,
            num_attention_heads=4,
            num_hidden_layers=LAYERS,
            max_position_embeddings=512,
            pad_token_id=1,
        ),
    ),
    Family(
        "Qwen2.5-1M",
        "dual-chunk attention",
        shaped(
            "Qwen2ForCausalLM",
            "qwen2",
            dual_chunk_attention_config={
                "chunk_size": 128,
                "local_size": 32,
                "original_max_position_embeddings": 128,
            },
        ),
    ),
)

_MAMBA_HEADS = {"mamba_n_heads": 8, "mamba_d_head": 32, "mamba_d_ssm": 256, "mamba_n_groups": 1}

CACHES = (
    Family(
        "DeepSeek-V2",
        "latent attention (MLA), experts",
        shaped(
            "DeepseekV2ForCausalLM",
            "deepseek_v2",
            num_key_value_heads=4,
            kv_lora_rank=512,
            q_lora_rank=None,
            qk_nope_head_dim=128,
            qk_rope_head_dim=64,
            v_head_dim=128,
            n_routed_experts=4,
            num_experts_per_tok=2,
            n_shared_experts=1,
            n_group=1,
            topk_group=1,
            moe_intermediate_size=64,
            first_k_dense_replace=1,
            moe_layer_freq=1,
            routed_scaling_factor=1.0,
            topk_method="greedy",
            scoring_func="softmax",
            hidden_act="silu",
        ),
    ),
    Family(
        "MiniCPM3",
        "latent attention stored as heads, the end of a head rotated",
        shaped(
            "MiniCPM3ForCausalLM",
            "minicpm3",
            kv_lora_rank=64,
            q_lora_rank=64,
            qk_nope_head_dim=32,
            qk_rope_head_dim=32,
            v_head_dim=64,
            hidden_act="silu",
        ),
    ),
    Family(
        "Jamba",
        "Mamba layers beside attention, experts",
        shaped(
            "JambaForCausalLM",
            "jamba",
            attn_layer_period=2,
            attn_layer_offset=1,
            mamba_dt_rank=8,
            **_EXPERTS,
        ),
    ),
    Family(
        "Falcon-H1",
        "Mamba and attention in each layer",
        shaped("FalconH1ForCausalLM", "falcon_h1", mamba_d_state=16, **_MAMBA_HEADS),
    ),
    Family(
        "Qwen3-Next",
        "linear attention beside full attention",
        shaped("Qwen3NextForCausalLM", "qwen3_next", **_EXPERTS),
    ),
    Family("Mamba", "no attention at all", shaped("MambaForCausalLM", "mamba", state_size=16)),
)
