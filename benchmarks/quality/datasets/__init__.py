"""Readers of data sets: a file comes in, typed records go out.

locomo        long conversations, observations and questions
persona_chat  dialogues, and their first-person statements
"""
