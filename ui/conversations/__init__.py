"""The conversation list: `conversation_panel` handles its events, `conversation_list` draws it."""
