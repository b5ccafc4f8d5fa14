"""Who a memory belongs to: names of users and agents, as the caller gives them."""

from agent.text import storable
from memory_engine.errors import UserError

LONGEST = 200


def owner_name(user: str) -> str:
    """The name as it is stored. Any characters may be in it; UserError if none is, or too many."""
    return _name(user, "user")


def agent_name(agent: str) -> str:
    """The same for an agent."""
    return _name(agent, "agent")


def _name(given: str, what: str) -> str:
    name = storable(given).strip()
    if not name:
        raise UserError(f"Name the {what}: the name may not be blank.")
    if len(name) > LONGEST:
        raise UserError(
            f"The {what}'s name has {len(name)} characters; it may have at most {LONGEST}."
        )
    return name
