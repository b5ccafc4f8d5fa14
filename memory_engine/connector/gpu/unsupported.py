"""Error for a model or a set-up that the connector cannot serve."""


class UnsupportedError(Exception):
    """KV injection cannot be right for this model or engine set-up; the message says why."""
