"""The shape of a model's answer when it extracts facts: schema and check in one."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Statement(BaseModel):
    """One statement. The quote comes first: what follows is written with it in view."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: Annotated[str, Field(max_length=300)]
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
    holds: bool
    kind: Literal["lasting", "event", "plan", "passing"]
    when: Annotated[str, Field(max_length=60)]


class Extracted(BaseModel):
    """The whole answer. Bounds keep it from running on until the tokens are spent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    statements: Annotated[list[Statement], Field(max_length=8)]
