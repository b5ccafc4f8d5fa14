"""Splitting of a message into the user's own sentences, without quotes, code and material."""

import re
from collections.abc import Iterator

from agent.extraction.english.tokens import UNSPACED

FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
# What clients put around sources, memories and system text, and HTML.
TAGGED = re.compile(
    r"<(?P<tag>[A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</(?P=tag)>"
    r"|^[ \t]*<(?!br\b|hr\b)[A-Za-z][\w-]*(?:\s[^<>]*)?>[ \t]*\n.*\Z",
    re.DOTALL | re.MULTILINE,
)
QUOTED_LINE = re.compile(r"^\s*(?:>|[{}\[\]|\"\u201c\u201e\u00ab]).*$", re.MULTILINE)
# A transcript, and a list of what was remembered, are material to the end of the paragraph.
LABELLED = re.compile(
    r"""^\s*\**(?:user|human|system|developer|assistant|ai|bot|gpt|chatgpt|speaker\s\d|person\s\d
      |(?:[\w' ]{0,40}\b)?(?:memor(?:y|ies)|(?:known|saved|recalled|stored)\s+facts|context
      |what\s+(?:i|you|we)\s+(?:know|remember|told|said)[\w' ]{0,40}))\**\s*:.*(?:\n[ \t]*\S.*)*""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
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
END = re.compile(
    r"[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s|$)|[\u3002\uff01\uff1f]+[\"'\u201d\u2019)\u300d]*"
)
NO_END = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|jr|sr|vs|etc|e\.g|i\.e|a\.m|p\.m|u\.s|no)|\b[A-Z])\.$",
    re.IGNORECASE,
)
MAY_END = re.compile(r"\b(?:etc|a\.m|p\.m)\.$", re.IGNORECASE)
BREAK = re.compile(r"[;,\u3001\uff0c\uff1b]\s*|\s+(?:and|but|or)\s+|\s+")
UNSPACED_RUN = re.compile(rf"[{UNSPACED}]{{4,}}")


def sentences(message: str) -> Iterator[str]:
    """The user's own sentences, verbatim, in order, with their final punctuation."""
    own = LABELLED.sub("", TAGGED.sub(" ", FENCED.sub(" ", message)))
    own = QUOTED_LINE.sub("", own)
    material = MATERIAL.search(own)
    if material:
        own = own[: material.start()] + "."
    for line in own.splitlines():
        yield from _split(BULLET.sub("", line).strip())


def holds_words(sentence: str) -> bool:
    """Whether `sentence` is long enough to state something, in any language."""
    return len(sentence.split()) > 1 or UNSPACED_RUN.search(sentence) is not None


def pieces(sentence: str, longest: int) -> Iterator[str]:
    """`sentence` in parts of at most `longest` characters, cut at its pauses if it has any."""
    while len(sentence) > longest:
        cuts = [m.start() for m in BREAK.finditer(sentence, longest // 2, longest + 2)]
        cuts = [c for c in cuts if c <= longest]
        pauses = [c for c in cuts if not sentence[c].isspace() or sentence[c : c + 5] == " and "]
        cut = (pauses or cuts or [longest])[-1]
        yield sentence[:cut].strip()
        sentence = sentence[cut:].lstrip(" ,;\u3001\uff0c\uff1b")
    if sentence:
        yield sentence


def _split(line: str) -> Iterator[str]:
    start = 0
    for end in END.finditer(line):
        head = line[start : end.end()]
        rest = line[end.end() :].lstrip()
        if rest and (_is_abbreviation(head, rest) or _is_quoting(head, rest)):
            continue
        yield head.strip()
        start = end.end()
    if line[start:].strip():
        yield line[start:].strip()


def _is_abbreviation(head: str, rest: str) -> bool:
    found = NO_END.search(head)
    if found is None or (MAY_END.search(head) and rest[0].isupper()):
        return False
    # "I." ends a sentence about as often as it is an initial; a lone I is the pronoun.
    return found.group() not in ("I.", "i.", "no.", "No.")


def _is_quoting(head: str, rest: str) -> bool:
    if head[-1] in "\"'\u201d\u2019" and rest[0].islower():
        return True
    return any(head.count(mark) % 2 for mark in '"`') or head.count("\u201c") > head.count("\u201d")
