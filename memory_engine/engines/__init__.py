"""Engines: one interface to a model that generates and keeps segments' KV.

In: prompts as token ids with spans. Out: chunks of a reply with their usage. In reading order:

    base.py               the interface `Engine`
    vllm_engine.py        the base of engines with the connector
    embedded.py           vLLM owned by this process
    remote.py             `vllm serve`, over HTTP; completions.py has its bodies and answers
    fleet.py              several remote engines as one; fleet_member.py has one of them
    conformance.py        the conformance gate
    cache_salt.py         salts of vLLM's prefix cache
    vllm_arguments.py     vLLM's options; vllm_serve.py has the command line
    memory_budget.py      the check that arena and cache fit
    counting.py           vLLM's counts, taken off the path of a token
    fake.py               an engine without a model, for tests
"""
