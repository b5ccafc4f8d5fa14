"""Schema of a model's extraction answer, which also checks it.

Only bounds and enumerations: xgrammar enforces these, and not a pattern or a format together
with a length. A string with a length holds no escapes there, so no `"` and no backslash: quotes
are compared by their words.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.entities import FactKind


class Statement(BaseModel):
    """One statement. The quote comes first: what follows is written with it in view."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: Annotated[str, Field(max_length=300)]
    subject: Literal["user", "assistant", "other"]
    name: Annotated[str, Field(max_length=60)]
    attribute: Literal[
        "none",
        "name",
        "age",
        "home",
        "hometown",
        "job",
        "employer",
        "birthday",
        "partner",
        "relationship",
        "diet",
    ]
    value: Annotated[str, Field(max_length=120)]
    polarity: Literal["affirmed", "denied"]
    kind: FactKind
    time_expression: Annotated[str, Field(max_length=60)]


class ExtractionAnswer(BaseModel):
    """The whole answer. Bounds keep it from running on until the tokens are spent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    statements: Annotated[list[Statement], Field(max_length=8)]
