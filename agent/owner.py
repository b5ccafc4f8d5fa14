"""Checks names of users and agents, as callers give them."""

from agent.text import storable
from memory_engine.errors import UserError

LONGEST = 200


def owner_name(user: str) -> str:
    """The name of a user as it is stored. Raises UserError for a blank or too long one."""
    return _name(user, "user")


def agent_name(agent: str) -> str:
    """The name of an agent as it is stored. Raises UserError for a blank or too long one."""
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
