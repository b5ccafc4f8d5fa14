"""The sentences a user says in their own name: not quotes, code or material to work on."""

import re
from collections.abc import Iterator

CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
QUOTED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
BULLET = re.compile(r"^\s*(?:[-*\u2022\u2013]|\d{1,2}[.)])\s+")
# "Translate this: ..." or "let's pretend": what follows is material or play, no statement.
MATERIAL = re.compile(
    r"""(?:^|[.!?\n]\s*)(?:(?:please|now|then|can\s+you|could\s+you|would\s+you|help\s+me)\s+)*(?:
      (?:translate|rewrite|rephrase|reword|summari[sz]e|proofread|correct|fix|improve|edit|explain
        |paraphrase|repeat|say|write|classify|analy[sz]e|parse|convert|continue|complete|shorten
        |review|check|compose|draft|polish|label|rate)\b[^.!?\n]*
        (?::|\bthe\s+following\b|\bthis\s+(?:text|sentence|paragraph|e?-?mail|letter)\b)
      | (?:let's|let\s+us|we)\s+(?:play|pretend|imagine|say|do\s+a\s+role) | imagine | pretend
      | suppose | role-?play | act\s+as
    )""",
    re.IGNORECASE | re.VERBOSE,
)
END = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s|$)")
NO_END = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|jr|sr|vs|etc|e\.g|i\.e|a\.m|p\.m|u\.s|no)|\b[A-Z])\.$",
    re.IGNORECASE,
)


def sentences(message: str) -> Iterator[str]:
    """The user's own sentences, verbatim, in order, with their final punctuation."""
    own = QUOTED_LINE.sub("", CODE.sub(" ", message))
    material = MATERIAL.search(own)
    if material:
        own = own[: material.start()] + "."
    for line in own.splitlines():
        yield from _split(BULLET.sub("", line).strip())


def _split(line: str) -> Iterator[str]:
    start = 0
    for end in END.finditer(line):
        head = line[start : end.end()]
        if end.end() < len(line) and (_is_abbreviation(head) or _is_quoting(head)):
            continue
        yield head.strip()
        start = end.end()
    if line[start:].strip():
        yield line[start:].strip()


def _is_abbreviation(head: str) -> bool:
    found = NO_END.search(head)
    if found is None:
        return False
    # "I." ends a sentence about as often as it is an initial; a lone I is the pronoun.
    return found.group() not in ("I.", "i.", "no.", "No.")


def _is_quoting(head: str) -> bool:
    return head.count('"') % 2 == 1 or head.count("\u201c") > head.count("\u201d")
