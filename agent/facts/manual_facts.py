"""Candidates for facts that the user states by hand."""

from dataclasses import replace

from agent.extraction.candidate import Candidate
from agent.extraction.english.fact_wording import candidate_of
from agent.extraction.english.statements import strip_lead_in
from agent.extraction.filters import holds_secret
from agent.text import one_line
from memory_engine.errors import EmptyMessageError, UserError

LONGEST = 1000


def manual_candidate(text: str) -> Candidate:
    """The candidate for `text`, which stays as it is but for white space.

    Raises EmptyMessageError for blank text, UserError for a secret or a text too long.
    """
    line = one_line(text)
    if not line:
        raise EmptyMessageError("The fact is empty. Write something first.")
    if len(line) > LONGEST:
        raise UserError(
            f"A fact has at most {LONGEST} characters, this one has {len(line)}. Split it."
        )
    if holds_secret(line):
        raise UserError("This looks like a password, key or card number: those are not remembered.")
    return replace(candidate_of(strip_lead_in(line) or line, "stable"), quote=line, text=line)
