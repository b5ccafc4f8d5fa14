"""Whether arena and cache fit the memory of the device, told before anything is loaded."""

from memory_engine.errors import ArenaTooLargeError

_MIB = 1 << 20
GPU_SHARE = 0.88  # of the device; the rest is the connector's scratch and other programs'
_GPU_MINIMUM = 0.2


def require_room(needed: int) -> None:
    """Raise ArenaTooLargeError if the host cannot give `needed` bytes now."""
    import psutil

    available = int(psutil.virtual_memory().available)
    if needed > available:
        raise ArenaTooLargeError(
            f"The KV arena and cache need {needed // _MIB} MiB, but {available // _MIB} MiB of "
            "memory are free. Set INFERSCALE_ARENA_MIB or INFERSCALE_KV_CACHE_MIB lower."
        )


def gpu_utilization(arena_bytes: int) -> float:
    """The share of the GPU's memory for vLLM, so that the arena fits beside it.

    Raises ArenaTooLargeError if too little would be left for the model.
    """
    from vllm.platforms import current_platform

    total = int(current_platform.get_device_total_memory())
    share = GPU_SHARE - arena_bytes / total
    if share < _GPU_MINIMUM:
        raise ArenaTooLargeError(
            f"A KV arena of {arena_bytes // _MIB} MiB leaves too little of the GPU's "
            f"{total // _MIB} MiB for the model. Set INFERSCALE_ARENA_MIB lower."
        )
    return share
