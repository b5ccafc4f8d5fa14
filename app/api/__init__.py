"""The HTTP API for other programs, in the shape of OpenAI's where OpenAI has one."""
