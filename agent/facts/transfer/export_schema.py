"""Schema of export documents: versioned, and checked on import."""

import json
from datetime import date
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from agent.entities import EventKind, FactKind
from agent.owner import LONGEST
from memory_engine.errors import UserError

Short = Annotated[str, Field(max_length=300)]  # what an index of PostgreSQL takes
FORMAT, VERSION = "inferscale-facts", 2


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceDocument(_Part):
    """A turn that says a fact."""

    conversation: str
    turn: int
    said_at: AwareDatetime
    text: str


class EventDocument(_Part):
    """An event of a fact; `by` is the fact that took its place."""

    kind: EventKind
    at: AwareDatetime
    by: str | None = None


class DenialDocument(_Part):
    """The value that a fact says an attribute does not have."""

    attribute: Short
    value: str


class FactDocument(_Part):
    """One fact that is not forgotten. Ids are those of the database it comes from.

    `denies` is new in version 2. In a document without it, the fact's text is read for it.
    """

    id: str
    text: Annotated[str, Field(min_length=1)]
    kind: FactKind = "stable"
    subject: Short = ""
    attribute: Short | None = None
    denies: DenialDocument | None = None
    when: date | None = None
    time_expression: str | None = None
    agent: Annotated[str, Field(min_length=1, max_length=LONGEST)] | None = None
    conversation: str | None = None
    created_at: AwareDatetime
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    ended_at: AwareDatetime | None = None
    superseded_by: str | None = None
    by_hand: bool = False
    sources: tuple[SourceDocument, ...] = ()
    events: tuple[EventDocument, ...] = ()


class Document(_Part):
    """The whole export: a user's present and past facts; instants are in UTC."""

    format: Literal["inferscale-facts"] = "inferscale-facts"
    version: Literal[1, 2] = 2
    user: str
    exported_at: AwareDatetime
    facts: tuple[FactDocument, ...]


def read_document(text: str) -> Document:
    """The document in `text`. Raises UserError, which says what is wrong without quoting it."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UserError(f"The file is not JSON: {error}.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UserError("The file is not an export of facts: `inferscale facts export` makes one.")
    version = found.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UserError(
            f"The file has version {version} of the export's schema, and this InferScale reads "
            f"up to {VERSION}. Import it with the version that wrote it, or a newer one."
        )
    try:
        return Document.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UserError(f"The export cannot be read: {place}: {first['msg']}.") from error
