"""Encoding: keeps the KV of facts resident on the engine, in the background.

In: an owner's facts. Out: a segment for each, encoded behind its window.

    windows.py           Context-Window Encoding: windows, segments and their ids
    fact_encoder.py      the segment of every fact, and whether it is resident
    encoding_queue.py    the background work of every owner
    admission.py         who may use the engine: replies pre-empt encoding
    residency.py         the tiers that hold an owner's KV
"""
