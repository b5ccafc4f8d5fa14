"""Outcomes are read as they are written, and those of another version are told apart."""

from memory_engine.connector.protocol.outcome import (
    Injection,
    inject_outcome,
    malformed_outcome,
    read_injection,
    version_error,
)
from memory_engine.connector.protocol.spans import Span

SPANS = [Span("a", 0, 4), Span("b", 4, 9)]


def test_an_injection_is_read_as_it_was_written() -> None:
    assert read_injection(inject_outcome(9, 4, 0, ["b"]), SPANS) == Injection(4, ("b",))


def test_a_refused_injection_misses_all_segments() -> None:
    assert read_injection(malformed_outcome("no"), SPANS) == Injection(0, ("a", "b"))


def test_an_engine_of_the_old_version_is_told_apart() -> None:
    old = {"op": None, "error": "the request is not signed with this engine's key"}
    assert "another version" in version_error(old)
    assert version_error(malformed_outcome("no")) == ""
