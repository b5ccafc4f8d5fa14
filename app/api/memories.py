"""`/v1/memories`: list, add, search, edit, export and forget the facts of a user."""

import base64
import binascii
import json
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from agent.entities import Fact
from agent.facts.transfer.export_schema import Document
from app.api.access import ApiContextDep, SignedIn
from app.api.api_errors import BadRequestError
from app.api.chat_schema import Name

MOST = 1000
User = Annotated[Name | None, Query(description="Whose; for who signs in, a user below them.")]
router = APIRouter(prefix="/v1/memories", tags=["memories"])


class NewMemories(BaseModel):
    """Facts to remember, all of them or none."""

    texts: list[str] = Field(min_length=1, max_length=MOST)


class NewText(BaseModel):
    """The new text of a fact."""

    text: str


@router.get("")
async def listed(
    api: ApiContextDep,
    caller: SignedIn,
    user: User = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
    after: Annotated[str | None, Query(description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """All that is known now, in time order, a page at a time: go on while there is a `next`."""
    facts = await api.service.facts(caller.owner(user))
    if after is not None:
        place = _place(after)
        facts = [fact for fact in facts if (fact.created_at, int(fact.id)) > place]
    page = facts[:limit]
    following = _cursor(page[-1]) if len(facts) > limit else None
    return {"object": "list", "data": [_shown(fact) for fact in page], "next": following}


@router.post("", status_code=201)
async def add(
    body: NewMemories, api: ApiContextDep, caller: SignedIn, user: User = None
) -> dict[str, Any]:
    """Remember facts; for each the fact that says it, which may have been known before."""
    added = await api.service.add_facts(caller.owner(user), body.texts)
    return {"object": "list", "data": [_shown(fact) for fact in added]}


@router.delete("")
async def forget_all(
    api: ApiContextDep,
    caller: SignedIn,
    everything: Annotated[bool, Query(alias="all", description="Has to be true.")],
    user: User = None,
) -> dict[str, Any]:
    """Forget everything of a user: facts, conversations, and what was computed of them."""
    if not everything:
        raise BadRequestError("all: say all=true to forget everything.", "all")
    return {"forgotten": await api.service.forget_everything(caller.owner(user))}


@router.get("/search")
async def search(
    api: ApiContextDep,
    caller: SignedIn,
    q: Annotated[str, Query(min_length=1, max_length=4000)],
    k: Annotated[int, Query(ge=1, le=MOST)] = 10,
    user: User = None,
) -> dict[str, Any]:
    """The facts most relevant to a text, best first, as a reply would recall them."""
    found = await api.service.search(caller.owner(user), q, k)
    data = [_shown(fact) | {"score": score} for fact, score in found]
    return {"object": "list", "data": data}


@router.get("/export")
async def export(api: ApiContextDep, caller: SignedIn, user: User = None) -> Document:
    """All that is known and was, but for what is forgotten, as `import` takes it."""
    return await api.service.export_facts(caller.owner(user))


@router.post("/import")
async def import_(
    body: dict[str, Any], api: ApiContextDep, caller: SignedIn, user: User = None
) -> dict[str, Any]:
    """Add the facts of an export; a second time changes nothing."""
    document = json.dumps(body)
    done = await api.service.import_facts(caller.owner(user), document)
    return {"added": done.added, "known": done.known, "left_out": done.left_out}


@router.patch("/{fact_id}")
async def edit(
    fact_id: str, body: NewText, api: ApiContextDep, caller: SignedIn, user: User = None
) -> dict[str, Any]:
    """Change what a fact says: a new fact takes its place, and the old one is history."""
    return _shown(await api.service.edit_fact(caller.owner(user), fact_id, body.text))


@router.delete("/{fact_id}")
async def forget(
    fact_id: str, api: ApiContextDep, caller: SignedIn, user: User = None
) -> dict[str, Any]:
    """Forget a fact; the answer comes when SQL, index and KV are rid of it."""
    await api.service.forget_fact(caller.owner(user), fact_id)
    return {"id": fact_id, "deleted": True}


def _shown(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "object": "memory",
        "text": fact.text,
        "when": fact.when,
        "kind": fact.kind,
        "subject": fact.subject,
        "attribute": fact.attribute,
        "created_at": fact.created_at,
        "valid_from": fact.valid_from,
        "valid_to": fact.valid_to,
        "conversation_id": fact.scope.conversation,
    }


def _cursor(fact: Fact) -> str:
    return base64.urlsafe_b64encode(f"{fact.created_at.isoformat()} {fact.id}".encode()).decode()


def _place(cursor: str) -> tuple[datetime, int]:
    """Where a page ended, also when its last fact is gone meanwhile."""
    try:
        at, _, number = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        place = datetime.fromisoformat(at), int(number)
    except (binascii.Error, UnicodeError, ValueError):
        place = None
    if place is None or place[0].tzinfo is None:
        raise BadRequestError("after: this is not the `next` of a page.", "after")
    return place
