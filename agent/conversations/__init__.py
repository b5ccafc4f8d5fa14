"""Conversations: messages and replies come in and are stored verbatim, with their traces.

In reading order:

- `conversation_store`: conversations and turns, and the turns still to be remembered
- `stored_traces`: traces of replies
- `client_resolver`, `client_keys`: the conversation that a program's message belongs to
"""
