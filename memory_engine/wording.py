"""Every static word of the prompt that carries memories. Chosen by measurement: DECISIONS.md."""

from memory_engine.types import MemoryFact

SYSTEM = "You are a helpful assistant."
FACTS_HEADER = "\nHere is what the user told you:\n"
TAIL_HEADER = ""
TAIL_END = "\n"


def fact_line(fact: MemoryFact) -> str:
    """A fact as one line of the prompt, with its date."""
    text = " ".join(fact.text.split())
    return f"- {fact.when.isoformat()}: {text}\n" if fact.when else f"- {text}\n"


def turn_line(turn: str) -> str:
    """A dialogue turn as one line of an encoding window."""
    return f"- {' '.join(turn.split())}\n"
