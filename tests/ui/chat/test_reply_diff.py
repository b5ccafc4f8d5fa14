"""The difference of two replies, word by word."""

from ui.chat.reply_diff import difference


def test_a_difference_marks_only_the_words_that_differ() -> None:
    shown = difference("My dog is <old>.", "My dog is young.")
    assert "My dog is " in shown
    assert '<del><span class="who">Text: </span>&lt;old&gt;.</del>' in shown
    assert '<ins><span class="who">KV: </span>young.</ins>' in shown
    assert "<del>" not in difference("The same.", "The same.")
