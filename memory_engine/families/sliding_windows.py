"""Families whose layers differ: sliding windows, another RoPE by layer, layers without one."""

from typing import Any

from memory_engine.families.family import LAYERS, WINDOW, Family, alternating, shaped

_FULL, _SLIDING = "full_attention", "sliding_attention"


def _sliding(architecture: str, model_type: str, **changes: Any) -> dict[str, Any]:
    types = alternating(_SLIDING, _FULL)
    options = {"layer_types": types, "sliding_window": WINDOW} | changes
    return shaped(architecture, model_type, **options)


_GEMMA3 = _sliding(
    "Gemma3ForCausalLM",
    "gemma3_text",
    query_pre_attn_scalar=32,
    rope_parameters={
        _SLIDING: {"rope_type": "default", "rope_theta": 10000.0},
        _FULL: {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0},
    },
)


def _gemma4(global_head_dim: int) -> dict[str, Any]:
    return _sliding(
        "Gemma4ForCausalLM",
        "gemma4_text",
        global_head_dim=global_head_dim,
        num_kv_shared_layers=0,
        hidden_size_per_layer_input=0,
    )


GEMMAS = (
    Family(
        "Gemma",
        "one KV head of 64 dimensions",
        shaped("GemmaForCausalLM", "gemma", head_dim=64, num_key_value_heads=1),
    ),
    Family(
        "Gemma 2",
        "sliding and full layers in turn, soft caps",
        _sliding(
            "Gemma2ForCausalLM",
            "gemma2",
            query_pre_attn_scalar=32,
            attn_logit_softcapping=50.0,
            final_logit_softcapping=30.0,
        ),
    ),
    Family("Gemma 3", "another RoPE in sliding layers than in full ones, QK-norm", _GEMMA3),
    Family("Gemma 3, bf16", "the same, rounded", _GEMMA3, "bfloat16"),
    Family(
        "Gemma 3n",
        "layers that share the KV of others",
        _sliding(
            "Gemma3nForCausalLM",
            "gemma3n_text",
            intermediate_size=[192] * LAYERS,
            num_kv_shared_layers=2,
            vocab_size_per_layer_input=512,
            hidden_size_per_layer_input=32,
            laurel_rank=16,
            altup_num_inputs=2,
            activation_sparsity_pattern=[0.0] * LAYERS,
        ),
    ),
    Family("Gemma 4, equal heads", "proportional RoPE in full layers, values normed", _gemma4(32)),
    Family("Gemma 4", "full layers with larger heads than sliding ones", _gemma4(64)),
)

NOPE = (
    Family(
        "Command R",
        "GPT-J pairing, parallel block",
        shaped("CohereForCausalLM", "cohere", layer_norm_eps=1e-5, logit_scale=0.5),
    ),
    Family(
        "Command R7B",
        "GPT-J pairing in sliding layers, no RoPE in full ones",
        _sliding("Cohere2ForCausalLM", "cohere2", layer_norm_eps=1e-5, logit_scale=0.5),
    ),
    Family(
        "EXAONE 4",
        "no RoPE in full layers, QK-norm",
        _sliding("Exaone4ForCausalLM", "exaone4", sliding_window_pattern=2, hidden_act="silu"),
    ),
    Family(
        "SmolLM3",
        "NoPE layers, run through Transformers",
        shaped(
            "SmolLM3ForCausalLM",
            "smollm3",
            no_rope_layers=[1, 1, 1, 0],
            layer_types=[_FULL] * LAYERS,
        ),
    ),
    Family(
        "OLMo 3",
        "sliding layers, QK-norm, run through Transformers",
        _sliding("Olmo3ForCausalLM", "olmo3"),
    ),
    Family(
        "gpt-oss",
        "attention sinks",
        _sliding(
            "GptOssForCausalLM",
            "gpt_oss",
            num_local_experts=4,
            num_experts_per_tok=2,
            rope_parameters={
                "rope_type": "yarn",
                "rope_theta": 150000.0,
                "factor": 4.0,
                "original_max_position_embeddings": 128,
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "truncate": False,
            },
        ),
    ),
)
