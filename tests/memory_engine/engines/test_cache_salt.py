"""Requests share vLLM's prefix cache only where their KV is the same."""

from memory_engine.connector.protocol.params import inject_params
from memory_engine.connector.protocol.spans import Span
from memory_engine.engines.cache_salt import encode_salt, prompt_salt


def test_mode_owner_segments_and_extra_each_set_a_request_apart() -> None:
    one, other = inject_params("anna", [Span("a", 0, 4)]), inject_params("anna", [Span("b", 0, 4)])
    salts = [
        prompt_salt("anna", None),
        prompt_salt("ben", None),
        prompt_salt("anna", None, "fresh"),
        prompt_salt("anna", one),
        prompt_salt("ben", one),
        prompt_salt("anna", other),
        prompt_salt("anna", one, "fresh"),
        encode_salt("anna"),
        encode_salt("ben"),
    ]
    assert len(set(salts)) == len(salts)
    assert prompt_salt("anna", one) == prompt_salt("anna", dict(one))
