"""Prompts: token ids of facts, history and question, the same in text and KV mode.

In: recalled facts, a history, a question. Out: a `Plan` with token ids and the spans to inject.

    layout.py            what stands where, and what is left out
    chat_tokenizer.py    the chat template in pieces; user text stays text
    prompt_wording.py    static words, and how a fact is said
"""
