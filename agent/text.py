"""Cleans text at the edge, and compares texts regardless of case and spacing."""

import hashlib
import re
import unicodedata

SPACES = re.compile(r"\s+")
FINAL_PUNCTUATION = " .!?\u2026;,"


def storable(text: str) -> str:
    """`text` without characters that no database or tokenizer takes; emoji and joiners stay.

    Two halves of a surrogate pair become the character they stand for; a lone half and NUL,
    which PostgreSQL does not store, are removed.
    """
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return paired.replace("\x00", "")


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return SPACES.sub(" ", text).strip()


def same_as(text: str) -> str:
    """A digest, equal for texts that differ only in case, spaces and final punctuation."""
    plain = one_line(unicodedata.normalize("NFKC", text)).replace("\u2019", "'")
    return hashlib.sha256(plain.casefold().rstrip(FINAL_PUNCTUATION).encode()).hexdigest()


def title_of(message: str, length: int = 60) -> str:
    """The start of `message` on one line, cut at a word."""
    line = one_line(message)
    if len(line) <= length:
        return line
    head = line[: length - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head) + "\u2026"
