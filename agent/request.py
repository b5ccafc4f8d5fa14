"""What is asked of the agent."""

from dataclasses import dataclass

from memory_engine.types import Mode, Sampling


@dataclass(frozen=True, slots=True)
class Request:
    """A message to reply to in each of `modes`; the transcript keeps the reply in `keep`.

    Without `conversation_id` a new conversation begins. `agent` sees the facts of its own
    scope too. `k` is how many facts to recall at most and `sampling` how to choose tokens;
    None is the agent's default. `again`: `message` is the conversation's last one already,
    and the reply takes the place of the one it has.
    """

    owner: str
    message: str
    modes: tuple[Mode, ...]
    keep: Mode
    conversation_id: str | None = None
    k: int | None = None
    remember: bool = True
    sampling: Sampling | None = None
    agent: str | None = None
    again: bool = False

    @property
    def stored(self) -> bool:
        """Whether the turns are kept: not in a passing exchange that nothing may remember."""
        return self.remember or self.conversation_id is not None
