"""Measuring what the assistant remembers and how well, on public data that the user names."""
