"""Tensors of the connector: the live model's RoPE and pages, and the copies between them.

In: index arrays of a step. Out: KV in the pages, or in the arena. In reading order:

    rope.py               one layer's rotation, applied and undone
    live_model.py         checks of the set-up, and the RoPE of each layer
    transformers_rope.py  the RoPE of models that run through Transformers
    unsupported.py        the error for a model that cannot be served
    pages.py              reading and writing the paged cache
    copies.py             the copies in plain torch, and their interface
    fused.py, kernels.py  the same copies as Triton kernels
    staging.py            index arrays on their way to the device
    device_timer.py       time of the device
    probe.py              the measurement inside the conformance gate
    fingerprint.py        a name for the model's KV
"""
