"""Model-based decider: one answer bound to a schema, about all statements of a turn."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from agent.extraction.candidate import Operation
from agent.extraction.extraction_prompts import DECISION
from agent.extraction.schema_request import ask_with_schema
from agent.remember.decider import Question
from agent.text import one_line
from memory_engine.protocols import MemoryEngine

# An answer is some 30 tokens a statement; twice that is never reached by a right one.
TOKENS_A_STATEMENT = 60
SHOWN_CHARACTERS = 200  # of a fact or a statement, so that all of them fit one prompt
NONE = "none"

log = logging.getLogger(__name__)


class Decision(BaseModel):
    """One decision: the label of a statement, what it does, and the label of a fact."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    statement: str
    operation: Operation
    fact: str


class Decisions(BaseModel):
    """The whole answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decisions: list[Decision]


class LlmDecider:
    """Decider for models that follow a schema and instructions. Facts go by labels of the call.

    An answer that stays invalid decides nothing: the statements are then added, so that
    nothing is lost.
    """

    def __init__(self, memory: MemoryEngine) -> None:
        self._memory = memory

    async def decide(
        self, owner: str, questions: Sequence[Question]
    ) -> Mapping[int, tuple[Operation, str]]:
        facts = {fact.id: fact.text for q in questions for fact in q.near}
        labels = {f"f{n}": fact_id for n, fact_id in enumerate(facts, start=1)}
        statements = {f"s{n}": n - 1 for n in range(1, len(questions) + 1)}
        prompt = DECISION.format(
            facts=_listed({label: facts[fact_id] for label, fact_id in labels.items()}),
            statements=_listed({s: questions[n].statement for s, n in statements.items()}),
        )
        schema = _schema(list(statements), list(labels))
        limit = TOKENS_A_STATEMENT * (len(questions) + 1)
        answer = await ask_with_schema(
            self._memory, owner, prompt, Decisions, max_tokens=limit, schema=schema
        )
        return {} if answer is None else _believed(answer.decisions, statements, labels)


def _believed(
    decisions: Sequence[Decision], statements: Mapping[str, int], labels: Mapping[str, str]
) -> dict[int, tuple[Operation, str]]:
    believed: dict[int, tuple[Operation, str]] = {}
    for decision in decisions:
        number, fact_id = statements.get(decision.statement), labels.get(decision.fact)
        if decision.operation == "add" or number in believed:
            continue
        if number is None or fact_id is None:
            log.warning("a decision was ignored: it names what was not shown")
            continue
        believed[number] = (decision.operation, fact_id)
    return believed


def _listed(texts: Mapping[str, str]) -> str:
    shown = {label: one_line(text)[:SHOWN_CHARACTERS] for label, text in texts.items()}
    return "\n".join(f"{label}: {text}" for label, text in shown.items())


def _schema(statements: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """A JSON schema that admits no label that was not shown, and no more than an answer each."""
    operations = ["add", "update", "supersede", "retract", "repeat"]
    properties = {
        "statement": {"enum": list(statements)},
        "operation": {"enum": operations},
        "fact": {"enum": [*labels, NONE]},
    }
    decision = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "decisions": {"type": "array", "items": decision, "maxItems": len(statements)}
        },
        "required": ["decisions"],
        "additionalProperties": False,
    }
