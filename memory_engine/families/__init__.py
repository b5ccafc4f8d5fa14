"""Model families: the conformance gate on a tiny model of each.

In: the table of families. Out: a finding for each. In reading order:

    family.py             a family, and the config.json of a tiny model of it
    family_table.py       the table; llamas.py, sliding_windows.py and other_families.py fill it
    conformance_suite.py  runs the gate on every family
    in_process.py         vLLM inside this process
    random_weights.py     weights with which attention matters
"""
