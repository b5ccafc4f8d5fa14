"""Check that arena and cache fit the device's memory, before anything is loaded."""

from memory_engine.errors import ArenaTooLargeError

_MIB = 1 << 20
GPU_SHARE = 0.88  # of the device; the rest is the connector's scratch and other programs'
_GPU_MINIMUM = 0.2  # for weights and a cache whose size is left to vLLM


def require_room(needed: int) -> None:
    """Raise ArenaTooLargeError if the host cannot give `needed` bytes now."""
    import psutil

    available = int(psutil.virtual_memory().available)
    if needed > available:
        raise ArenaTooLargeError(
            f"The KV arena and cache need {needed // _MIB} MiB, but {available // _MIB} MiB of "
            "memory are free. Set INFERSCALE_ARENA_MIB or INFERSCALE_KV_CACHE_MIB lower."
        )


def gpu_utilization(arena_bytes: int, kv_cache_bytes: int | None) -> float:
    """The share of the GPU's memory that vLLM has to find free and, cache and all, may fill.

    With a size for its cache vLLM takes no more than that, and others may have the rest.
    Raises ArenaTooLargeError if too little would be left for the model.
    """
    from vllm.platforms import current_platform

    total = int(current_platform.get_device_total_memory())
    kept = arena_bytes + (kv_cache_bytes or 0)
    left = GPU_SHARE - kept / total
    if left < (_GPU_MINIMUM if kv_cache_bytes is None else 0):
        raise ArenaTooLargeError(
            f"The KV arena and cache take {kept // _MIB} MiB and leave too little of the GPU's "
            f"{total // _MIB} MiB for the model. Set INFERSCALE_ARENA_MIB or "
            "INFERSCALE_KV_CACHE_MIB lower."
        )
    return left if kv_cache_bytes is None else kept / total
