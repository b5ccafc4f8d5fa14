"""Segments: their slots on each tier, and their snapshots on disk.

In: owners and segment ids. Out: slots, and the moves between tiers. In reading order:

    arena.py       slots of one tier, given to segments and evicted
    tiers.py       device memory and host memory behind it
    tier_store.py  the tensors of one tier, on the worker
    snapshots.py   files of an owner's segments
    archive.py     the scheduler side of snapshots
"""
