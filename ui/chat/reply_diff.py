"""Word-by-word difference of two replies as HTML."""

import re
from difflib import SequenceMatcher

from ui.parts.escaping import as_html

_WORDS = re.compile(r"\s+|[^\s]+")
LONGEST = 4000  # words and spaces: comparing takes the square of it at worst


def difference(text: str, kv: str) -> str:
    """HTML with what only `text` says struck out and what only `kv` says underlined."""
    before, after = _WORDS.findall(text)[:LONGEST], _WORDS.findall(kv)[:LONGEST]
    parts = []
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(as_html("".join(before[i:j])))
            continue
        if j > i:
            parts.append(_marked("del", "Text: ", before[i:j]))
        if m > k:
            parts.append(_marked("ins", "KV: ", after[k:m]))
    return f'<p class="difference">{"".join(parts)}</p>'


def _marked(tag: str, who: str, words: list[str]) -> str:
    return f'<{tag}><span class="who">{who}</span>{as_html("".join(words))}</{tag}> '
