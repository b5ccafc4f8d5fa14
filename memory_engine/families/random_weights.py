"""Random weights with which attention matters: vLLM's own dummy weights are all but zero."""

from typing import Any

LOAD_FORMAT = "inferscale_random"
_SHARPNESS = 3.0  # of the next token's probabilities: flat ones would differ little


def register_loader() -> str:
    """Teach vLLM, in this process, the load format that this returns."""
    from vllm.model_executor.model_loader import _LOAD_FORMAT_TO_MODEL_LOADER as known
    from vllm.model_executor.model_loader import register_model_loader
    from vllm.model_executor.model_loader.dummy_loader import DummyModelLoader

    class RandomLoader(DummyModelLoader):  # type: ignore[misc]
        def load_weights(self, model: Any, model_config: Any) -> None:
            super().load_weights(model, model_config)
            fill(model)

    if LOAD_FORMAT not in known:
        register_model_loader(LOAD_FORMAT)(RandomLoader)
    return LOAD_FORMAT


def fill(model: Any) -> None:
    """Give every parameter values of a size that keeps activations near one.

    Matrices get 1/sqrt(inputs), norms lie around 1 and biases around 0. The values are the
    same at every start.
    """
    import torch

    generator = torch.Generator().manual_seed(20)
    for name, parameter in model.named_parameters():
        if not parameter.is_floating_point():
            continue
        values = torch.randn(parameter.shape, generator=generator)
        if parameter.dim() > 1:
            values *= parameter.shape[-1] ** -0.5 * (_SHARPNESS if "lm_head" in name else 1.0)
        else:
            values = values * 0.2 + (0.0 if "bias" in name else 1.0)
        parameter.data.copy_(values)
