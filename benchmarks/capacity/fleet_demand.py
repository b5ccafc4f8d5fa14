"""Demand on a fleet: users, their facts, how they chat, and the memory of an engine."""

from dataclasses import dataclass

from app.settings_checks import StoreDtype
from memory_engine.errors import SettingsError

DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class FleetDemand:
    """Demand of all users, and the engines to serve it; figures of a user are means.

    facts: of a user. tokens: of a fact. k: facts that a reply recalls at most. messages: of a
    user and day. conversation: messages of one. pause: seconds between two of them. zipf:
    exponent of the users' activity, 0 for equal users. learnt: new facts a message.
    reply_tokens: of a reply. engines: 0 for as many as are needed. tensor_parallel: GPUs of an
    engine. utilization: how much of its time an engine may be
    busy. *_gib: memory of an engine for KV of facts, on the device (None for what weights and
    cache leave), the host (None for half of it) and on disk (0 is none). disk_gb_per_s: how
    fast it is read.
    """

    users: int = 1_000_000
    facts: int = 50
    tokens: int = 40
    k: int = 50
    messages: float = 5.0
    conversation: float = 5.0
    pause: float = 60.0
    zipf: float = 0.6
    learnt: float = 0.2
    reply_tokens: int = 128
    engines: int = 0
    tensor_parallel: int = 1
    utilization: float = 0.7
    store: StoreDtype = "auto"
    arena_gib: float | None = None
    host_gib: float | None = None
    disk_gib: float = 0.0
    disk_gb_per_s: float = 2.0

    def __post_init__(self) -> None:
        whole = ("users", "facts", "tokens", "k", "reply_tokens", "tensor_parallel")
        for name in whole:
            if getattr(self, name) < 1:
                raise SettingsError(f"{option(name)} must be 1 or more.")
        for name in ("messages", "pause", "disk_gb_per_s"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{option(name)} must be more than 0.")
        for name in ("zipf", "learnt", "engines", "arena_gib", "host_gib", "disk_gib"):
            if (getattr(self, name) or 0) < 0:
                raise SettingsError(f"{option(name)} must be 0 or more.")
        if self.conversation < 1:
            raise SettingsError(f"{option('conversation')} must be 1 or more.")
        if not 0 < self.utilization < 1:
            raise SettingsError(f"{option('utilization')} must lie between 0 and 1.")
        if self.store not in ("auto", "fp8"):
            raise SettingsError(f"{option('store')} must be auto or fp8.")

    @property
    def messages_per_s(self) -> float:
        """Messages of all users in a second."""
        return self.users * self.messages / DAY

    @property
    def conversations_per_s(self) -> float:
        """Conversations of all users that begin in a second."""
        return self.messages_per_s / self.conversation

    @property
    def talking(self) -> float:
        """Users in a conversation at a time, by Little's law."""
        return min(float(self.users), self.messages_per_s * self.pause)

    @property
    def recalled_tokens(self) -> int:
        """Tokens of the facts in a prompt."""
        return min(self.k, self.facts) * self.tokens


def option(name: str) -> str:
    """Name of the command-line option that sets a field."""
    return f"--{name.replace('_', '-')}"
