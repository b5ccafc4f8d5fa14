"""Markdown pages: filling marks, anchors as GitHub makes them, and links."""

import pytest

from scripts.pages.markdown_page import anchor, filled, headings, relative_links

PAGE = "# One\n<!-- table -->\nold\n<!-- end of table -->\n"


def test_what_stands_between_the_marks_is_replaced() -> None:
    new = filled(PAGE, {"table": "| new |\n"})
    assert new == "# One\n<!-- table -->\n| new |\n<!-- end of table -->\n"
    assert filled(new, {"table": "| new |"}) == new


def test_a_backslash_in_a_block_stays_one() -> None:
    assert r"a\|b \1" in filled(PAGE, {"table": r"a\|b \1"})


def test_a_missing_mark_is_told() -> None:
    with pytest.raises(ValueError, match="<!-- chart -->"):
        filled(PAGE, {"chart": ""})


def test_headings_in_code_are_none() -> None:
    assert headings("# One\n\n```bash\n# a comment\n```\n\n## Two\n") == ["One", "Two"]


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("2026-11-30: two GPUs", "2026-11-30-two-gpus"),
        ("`/v1/completions`, and more", "v1completions-and-more"),
        ("SQLite's synchronous=NORMAL", "sqlites-synchronousnormal"),
    ],
)
def test_anchors_are_those_of_github(heading: str, name: str) -> None:
    assert anchor(heading) == name


def test_links_to_elsewhere_and_in_code_are_left_out() -> None:
    page = "[a](docs/a.md#b) [c](https://x.org) `[d](e.md)` ![f](g.png)\n```\n[h](i.md)\n```\n"
    assert relative_links(page) == ["docs/a.md#b", "g.png"]
