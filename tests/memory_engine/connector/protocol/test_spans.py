"""Spans as columns: slices and items agree with a list of spans."""

from memory_engine.connector.protocol.spans import Span, Spans, read_spans, write_spans

SPANS = [Span("a", 0, 4), Span("b", 4, 9), Span("c", 9, 10)]


def test_columns_are_a_sequence_of_spans() -> None:
    columns = read_spans(write_spans(SPANS), 10, contiguous=True)
    assert list(columns) == SPANS
    assert list(columns[1:]) == SPANS[1:]
    assert isinstance(columns[1:], Spans)
    assert [span.length for span in columns] == [4, 5, 1]
