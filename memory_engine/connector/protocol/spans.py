"""Spans: the places of segments in a prompt, and their form on the wire.

    "<id>:<start>:<end> <id>:<start>:<end> ..."

Hundreds of segments are one string: as lists they would be copied, sent and read one by one
before the first token.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import sub
from typing import NamedTuple, overload

_ENTRY = "a segment must be <id>:<start>:<end > start>"


class Span(NamedTuple):
    """Token positions `start` to `end` of a prompt, which are the segment `segment_id`."""

    segment_id: str
    start: int
    end: int

    @property
    def length(self) -> int:
        """Tokens of the span."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Spans(Sequence[Span]):
    """Spans in the order of the prompt, kept as columns.

    A request has hundreds, and what is done with them before the first token is done with a
    column at a time.
    """

    ids: Sequence[str] = ()
    lengths: Sequence[int] = ()
    ends: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> "Spans": ...
    def __getitem__(self, index: int | slice) -> "Span | Spans":
        if isinstance(index, slice):
            return Spans(self.ids[index], self.lengths[index], self.ends[index])
        end = self.ends[index]
        return Span(self.ids[index], end - self.lengths[index], end)


def write_spans(spans: Iterable[Span]) -> str:
    """The spans as one string; no id may have a blank or a colon in it."""
    return " ".join([f"{segment_id}:{start}:{end}" for segment_id, start, end in spans])


def read_spans(segments: object, prompt_tokens: int, *, contiguous: bool) -> Spans:
    """The spans of a prompt of so many tokens, from the string that `write_spans` makes.

    They must be in order, and with `contiguous` without gaps. Raises ValueError.
    """
    if not isinstance(segments, str) or not segments.strip():
        raise ValueError("segments must be a string of <id>:<start>:<end>, at least one")
    # This is on the way to the first token, so all entries are taken apart at once.
    parts = segments.replace(" ", ":").split(":")
    ids, starts, stops = parts[::3], parts[1::3], parts[2::3]
    digits = "".join(starts) + "".join(stops)
    if len(parts) % 3 or not all(ids) or not (digits.isascii() and digits.isdecimal()):
        raise ValueError(f"{_ENTRY}, got {_wrong(segments)!r}")
    if not (all(starts) and all(stops)):
        raise ValueError(f"{_ENTRY}, got {_wrong(segments)!r}")
    begins, ends = list(map(int, starts)), list(map(int, stops))
    lengths = list(map(sub, ends, begins))
    if min(lengths) < 1:
        raise ValueError(f"{_ENTRY}, got {_wrong(segments)!r}")
    spans = Spans(ids, lengths, ends)
    if begins[1:] != ends[:-1]:
        for before, span in pairwise(spans):
            if span.start < before.end or (contiguous and span.start != before.end):
                raise ValueError(f"segments must be in order{' without gaps' * contiguous}: {span}")
    if ends[-1] > prompt_tokens:
        raise ValueError(
            f"segments end at {ends[-1]}, outside the prompt of {prompt_tokens} tokens"
        )
    return spans


def _wrong(segments: str) -> str:
    """The first entry that is not as it must be, for the message."""
    for entry in segments.split():
        match entry.split(":"):
            case [segment_id, start, end] if segment_id and start.isdecimal():
                if end.isdecimal() and int(end) > int(start):
                    continue
        return entry
    return segments
