"""Requests of chat clients are told from those of users. Wording: made up."""

import pytest

from agent.extraction.client_tasks import is_client_task
from agent.extraction.rule_extractor import statements_in

HISTORY = "<chat_history>\nUSER: I live in Bern.\nASSISTANT: Good to know.\n</chat_history>"


@pytest.mark.parametrize(
    "message",
    [
        f"### Task:\nGenerate a short title with an emoji for the chat history.\n{HISTORY}",
        f"### Task:\nGenerate 1-3 broad tags for the main themes of the chat history.\n{HISTORY}",
        "### Task:\nSuggest 3 follow-up questions or prompts that the user might ask next.\n"
        f"### Chat History:\n{HISTORY}",
        "### Task:\nDecide whether the chat needs search queries.\n### Output:\nJSON\n" + HISTORY,
        "### Aufgabe\nErfinde einen Titel.\n" + HISTORY,
        "Provide a concise title of five words or less for the conversation. Conversation:\n"
        "User: I live in Bern.",
        "Please generate a four to five word title summing up our conversation, without quotes.",
        "Based on the chat history, give this conversation a name. Keep it short.",
        "Analyze this conversation and provide:\n1. its language\n2. a concise title\nUser: I ski.",
        "Summarize the discussion briefly in 200 words or less, as a prompt for future context.",
        "\u8bf7\u7528\u56db\u5230\u4e94\u4e2a\u5b57\u6982\u62ec\u8fd9\u53e5\u8bdd\u7684\u4e3b\u9898",
    ],
)
def test_a_clients_own_request_is_told_and_gives_no_fact(message: str) -> None:
    assert is_client_task(message)
    assert statements_in(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Hi",
        "Give me a name for my dog.",
        "Suggest a title for my novel about bees.",
        "I write titles and tags for a chat about sailing.",
        "My task is to summarise the conversation in a title.",
        "Write an autocomplete widget.",
        "Make a summary of the book Dune.",
        "Suggest questions for my interview.",
        "What was the topic of our conversation?",
        "### Task:\nAnswer the user query from the context.\n<context>x</context>\nI live in Bern.",
        "# Task list\n- buy milk",
    ],
)
def test_a_users_own_request_is_not_taken_for_a_clients(message: str) -> None:
    assert not is_client_task(message)


def test_the_users_words_behind_sources_are_still_the_users() -> None:
    message = (
        "### Task:\nRespond to the user query using the context.\n"
        "<context>\n<source>I live in Rome.</source>\n</context>\n\nI live in Bern."
    )
    assert [c.text for c in statements_in(message)] == ["I live in Bern."]
