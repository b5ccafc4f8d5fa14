"""A fact that the user states by hand stays as it is."""

import pytest

from agent.facts.manual_facts import LONGEST, manual_candidate
from memory_engine.errors import EmptyMessageError, UserError


def test_it_is_kept_word_for_word_and_read_like_any_other() -> None:
    fact = manual_candidate("  Well,  my dog is\ncalled Rex ")
    assert (fact.text, fact.quote) == ("Well, my dog is called Rex", "Well, my dog is called Rex")
    assert (fact.subject, fact.attribute, fact.value) == ("dog", "dog name", "Rex")


def test_it_may_be_in_any_language_and_wording() -> None:
    fact = manual_candidate("\u6211\u4f4f\u5728\u5317\u4eac")
    assert (fact.text, fact.subject, fact.attribute) == ("\u6211\u4f4f\u5728\u5317\u4eac", "", None)
    assert manual_candidate("Always answer in French.").text == "Always answer in French."


@pytest.mark.parametrize("text", ["", " \n "])
def test_nothing_is_no_fact(text: str) -> None:
    with pytest.raises(EmptyMessageError):
        manual_candidate(text)


@pytest.mark.parametrize("text", ["My password is hunter2.", "a" * (LONGEST + 1)])
def test_secrets_and_endless_texts_are_refused_with_the_reason(text: str) -> None:
    """agentmemory#911, mem0#6817."""
    with pytest.raises(UserError, match=r"not remembered|Split it"):
        manual_candidate(text)
