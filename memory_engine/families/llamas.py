"""Families built like Llama, with every scaling of RoPE."""

from typing import Any

from memory_engine.families.family import HEAD_DIM, WINDOW, Family, shaped

_PAIRS = HEAD_DIM // 2


def _llama(**changes: Any) -> dict[str, Any]:
    return shaped("LlamaForCausalLM", "llama", **changes)


def _mistral(window: int | None) -> dict[str, Any]:
    return shaped("MistralForCausalLM", "mistral", sliding_window=window)


def _scaled(rope_type: str, **values: Any) -> dict[str, Any]:
    return {"rope_theta": 10000.0, "rope_type": rope_type, **values}


_LLAMA3 = _scaled(
    "llama3",
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=64,
)
_LINEAR = _scaled("linear", factor=4.0)
_DYNAMIC = _scaled("dynamic", factor=4.0, max_trained_positions=128)
_YARN = _scaled("yarn", factor=4.0, original_max_position_embeddings=128)
_QUERY_SCALING = {"mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}
_LONGROPE = _scaled(
    "longrope",
    short_factor=[1.0 + i / _PAIRS for i in range(_PAIRS)],
    long_factor=[2.0 + 3 * i / _PAIRS for i in range(_PAIRS)],
    original_max_position_embeddings=128,
)
_PHI3 = shaped(
    "Phi3ForCausalLM", "phi3", rope_parameters=_LONGROPE, original_max_position_embeddings=128
)
_QWEN3 = shaped("Qwen3ForCausalLM", "qwen3")
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
_SPARSE = {"norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": []}

LLAMAS = (
    Family("Llama", "NeoX pairing, GQA", _llama()),
    Family("Llama, bf16", "rounded weights, RoPE table and KV", _llama(), "bfloat16"),
    Family("Llama, fp16", "rounded weights, RoPE table and KV", _llama(), "float16"),
    Family("Llama, tied", "tied embeddings", _llama(tie_word_embeddings=True)),
    Family("Llama, MHA", "a KV head for every head", _llama(num_key_value_heads=4)),
    Family("Llama, MQA", "one KV head", _llama(num_key_value_heads=1)),
    Family("Llama 3.1", "Llama-3 scaling", _llama(rope_parameters=_LLAMA3)),
    Family("Llama, linear", "linear scaling", _llama(rope_parameters=_LINEAR)),
    Family("Llama, dynamic NTK", "dynamic NTK scaling", _llama(rope_parameters=_DYNAMIC)),
    Family("Llama, YaRN", "YaRN scaling, mscale", _llama(rope_parameters=_YARN)),
    Family("Llama, YaRN, bf16", "mscale, rounded", _llama(rope_parameters=_YARN), "bfloat16"),
    Family(
        "Llama 4",
        "NoPE layers, chunked attention, norm behind RoPE, experts",
        shaped(
            "Llama4ForCausalLM",
            "llama4_text",
            intermediate_size_mlp=192,
            num_local_experts=4,
            num_experts_per_tok=1,
            interleave_moe_layer_step=2,
            no_rope_layers=[1, 1, 1, 0],
            attention_chunk_size=WINDOW,
            use_qk_norm=True,
        ),
    ),
)

QWENS = (
    Family("Qwen2", "biased projections", shaped("Qwen2ForCausalLM", "qwen2")),
    Family(
        "Qwen2-MoE",
        "shared and routed experts",
        shaped(
            "Qwen2MoeForCausalLM",
            "qwen2_moe",
            shared_expert_intermediate_size=64,
            **_EXPERTS,
            **_SPARSE,
        ),
    ),
    Family("Qwen3", "QK-norm", _QWEN3),
    Family("Qwen3, bf16", "QK-norm, rounded", _QWEN3, "bfloat16"),
    Family(
        "Qwen3-MoE",
        "QK-norm, experts",
        shaped("Qwen3MoeForCausalLM", "qwen3_moe", **_EXPERTS, **_SPARSE),
    ),
)

MISTRALS = (
    Family("Mistral", "no window", _mistral(None)),
    Family("Mistral v0.1", "a window in every layer, no shorter than a prompt", _mistral(256)),
    Family("Mistral v0.1, long", "a window in every layer, shorter than prompts", _mistral(WINDOW)),
    Family(
        "Ministral 3",
        "YaRN, queries scaled by position",
        shaped(
            "Ministral3ForCausalLM",
            "ministral3",
            sliding_window=None,
            rope_parameters=_YARN | _QUERY_SCALING,
        ),
    ),
    Family(
        "Mixtral",
        "experts",
        shaped("MixtralForCausalLM", "mixtral", num_local_experts=4, num_experts_per_tok=2),
    ),
)

PHIS = (
    Family("Phi-3", "LongRoPE, short factors", _PHI3, max_model_len=128),
    Family("Phi-3, long", "LongRoPE, long factors", _PHI3),
    Family("Phi-3, long, bf16", "LongRoPE, long factors, rounded", _PHI3, "bfloat16"),
    Family(
        "Phi-2",
        "partial rotary, run through Transformers",
        shaped("PhiForCausalLM", "phi", partial_rotary_factor=0.5, num_key_value_heads=4),
    ),
)
