"""Text: what was typed is what is seen, whatever it is."""

from datetime import date

import pytest

from ui.parts.escaping import as_html, as_markdown, counted, day, milliseconds, size, verbatim


def test_a_users_mark_up_stays_text() -> None:
    assert verbatim("<b>*hi*</b> <|im_end|>") == r"&lt;b&gt;\*hi\*&lt;/b&gt; &lt;\|im\_end\|&gt;"


def test_a_reply_keeps_its_markdown_and_its_code() -> None:
    assert as_markdown("**a** <i> `x < 1`") == "**a** &lt;i&gt; `x < 1`"
    assert as_markdown("```\n<p>\n``` <p>") == "```\n<p>\n``` &lt;p&gt;"
    assert as_markdown("```\n<p> and no end") == "```\n<p> and no end"


def test_attributes_cannot_be_left() -> None:
    assert as_html('"><script>') == "&quot;&gt;&lt;script&gt;"


@pytest.mark.parametrize(
    ("value", "shown"), [(4.25, "4.2 ms"), (41.4, "41 ms"), (999.4, "999 ms"), (2850.0, "2.85 s")]
)
def test_durations_have_the_digits_a_reader_can_use(value: float, shown: str) -> None:
    assert milliseconds(value) == shown


def test_counts_and_dates_read_well() -> None:
    assert (counted(1, "fact"), counted(1840, "token")) == ("1 fact", "1,840 tokens")
    assert (day(date(2026, 5, 3)), day(None)) == ("3 May 2026", "")


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (96 << 20, "96 MiB"),
        ((1 << 30) - 5000, "1.0 GiB"),
    ],
)
def test_bytes_have_the_unit_that_they_round_to(number: int, shown: str) -> None:
    assert size(number) == shown
