"""Markdown pages: blocks between marks, anchors of headings, and links."""

import re
from collections.abc import Mapping

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def filled(page: str, blocks: Mapping[str, str]) -> str:
    """The page with each block between `<!-- name -->` and `<!-- end of name -->`.

    Raises ValueError where a pair of marks is missing.
    """
    for name, block in blocks.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        if page.count(start) != 1 or page.count(end) != 1:
            raise ValueError(f"the page needs {start.strip()} and {end} once each")
        before, _, rest = page.partition(start)
        _, _, after = rest.partition(end)
        page = before + start + block.rstrip("\n") + "\n" + end + after
    return page


def headings(page: str) -> list[str]:
    """The texts of all headings, in order; those inside code are none."""
    return _HEADING.findall(_FENCE.sub("", page))


def anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading, if no heading before it has the same."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def relative_links(page: str) -> list[str]:
    """The targets of all links that stay in the repository; those inside code are none."""
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page))
    return [link for link in _LINK.findall(text) if not re.match(r"[a-z]+:", link)]
