"""The index of DECISIONS.md names every heading exactly once."""

import re
from collections import Counter

from scripts.pages.markdown_page import anchor, headings
from scripts.readme import ROOT

TEXT = (ROOT / "DECISIONS.md").read_text(encoding="utf-8")
INDEX, _, ENTRIES = TEXT.partition("## Index\n")[2].partition("\n## ")
LINK = re.compile(r"\[([^\]]+)\]\(#([^)]+)\)")


def decisions() -> list[str]:
    return [each for each in headings(TEXT) if re.match(r"\d{4}-\d\d-\d\d: ", each)]


def test_every_decision_is_dated_and_newest_first() -> None:
    assert headings(TEXT) == ["Decisions", "Index", *decisions()]
    dates = [each[:10] for each in decisions()]
    assert dates == sorted(dates, reverse=True)


def test_the_index_names_every_decision_exactly_once() -> None:
    named = Counter(place for _, place in LINK.findall(INDEX))
    wrong = [each for each in decisions() if named[anchor(each)] != 1]
    assert wrong == [], "give each one place in the index"
    assert sorted(named) == sorted(map(anchor, decisions()))


def test_the_index_says_what_the_headings_say() -> None:
    titles = {anchor(each): each[len("2026-01-01: ") :] for each in decisions()}
    assert [text for text, place in LINK.findall(INDEX) if titles[place] != text] == []
