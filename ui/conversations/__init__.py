"""The conversation list: a search or a click comes in, changes of list and page go out.

`conversation_panel` handles its events, `conversation_list` draws it.
"""
