"""Facts over HTTP: complete, changed by hand, and never another user's."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.app.api.api_server import api

MEMORIES = "/v1/memories"


async def texts(client: httpx2.AsyncClient, **params: Any) -> list[str]:
    """The texts of all pages."""
    found: list[str] = []
    while True:
        page = (await client.get(MEMORIES, params=params)).raise_for_status().json()
        found += [memory["text"] for memory in page["data"]]
        if page["next"] is None:
            return found
        params["after"] = page["next"]


async def test_the_list_is_complete_page_by_page_whatever_is_forgotten_between(
    tmp_path: Path,
) -> None:
    """mem0#5752: a page shows the first twenty, and no more."""
    numbers = [f"My number {n} is {n}." for n in range(7)]
    async with api(tmp_path) as at, at.http() as client:
        added = await client.post(MEMORIES, json={"texts": numbers}, params={"user": "ann"})
        assert added.status_code == 201
        assert await texts(client, user="ann", limit=3) == numbers
        page = (await client.get(MEMORIES, params={"user": "ann", "limit": 3})).json()
        await client.delete(f"{MEMORIES}/{page['data'][-1]['id']}", params={"user": "ann"})
        rest = await texts(client, user="ann", limit=3, after=page["next"])
    assert rest == numbers[3:]


async def test_an_edit_takes_the_place_of_what_was_said(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.http() as client:
        fact = await at.parts.service.add_fact("ann", "My dog is called Biscuit.")
        reply = await client.patch(
            f"{MEMORIES}/{fact.id}", json={"text": "My dog is called Rex."}, params={"user": "ann"}
        )
        assert reply.json()["text"] == "My dog is called Rex."
        assert await texts(client, user="ann") == ["My dog is called Rex."]
        events = await at.parts.service.history("ann", fact.id)
    assert [(e.kind, e.superseded_by) for e in events][-1] == ("superseded", reply.json()["id"])


async def test_one_fact_is_forgotten_or_everything_and_not_by_an_empty_id(tmp_path: Path) -> None:
    ann = {"user": "ann"}
    async with api(tmp_path) as at, at.http() as client:
        one, _ = await at.parts.service.add_facts("ann", ["I like plums.", "I like figs."])
        await at.parts.service.add_fact("bob", "I ski.")
        gone = await client.delete(f"{MEMORIES}/{one.id}", params=ann)
        assert gone.json() == {"id": one.id, "deleted": True}
        assert (await client.delete(f"{MEMORIES}/", params=ann)).status_code == 404
        assert (await client.delete(MEMORIES, params=ann)).status_code == 400
        assert (await client.delete(MEMORIES, params=ann | {"all": False})).status_code == 400
        assert await texts(client, user="ann") == ["I like figs."]
        everything = await client.delete(MEMORIES, params=ann | {"all": True})
        assert everything.json() == {"forgotten": 1}
        assert await texts(client, user="ann") == []
        assert await texts(client, user="bob") == ["I ski."]


async def test_an_export_is_imported_once(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.http() as client:
        await at.parts.service.add_facts("ann", ["I like plums.", "I like figs."])
        document = (await client.get(f"{MEMORIES}/export", params={"user": "ann"})).json()
        done = [
            (await client.post(f"{MEMORIES}/import", json=document, params={"user": "bob"})).json()
            for _ in range(2)
        ]
        assert [(d["added"], d["known"]) for d in done] == [(2, 0), (0, 2)]
        assert await texts(client, user="bob") == ["I like plums.", "I like figs."]


async def test_a_search_gives_the_best_with_their_scores(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.http() as client:
        await at.parts.service.add_facts("ann", ["I ski.", "I like red plums."])
        params: dict[str, Any] = {"user": "ann", "q": "red plums.", "k": 1}
        (found,) = (await client.get(f"{MEMORIES}/search", params=params)).json()["data"]
    assert (found["text"], found["score"]) == ("I like red plums.", 0.2)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "", {"texts": []}, 400),
        ("POST", "", {"texts": ["  "]}, 400),
        ("POST", "", {"texts": ["My password is hunter22!x"]}, 400),
        ("POST", "", None, 400),
        ("GET", "?limit=0", None, 400),
        ("GET", "?after=x", None, 400),
        ("GET", "/search", None, 400),
        ("PATCH", "/999", {"text": "I ski."}, 404),
        ("PATCH", "/x", {"text": "I ski."}, 404),
        ("DELETE", "/999", None, 404),
        ("POST", "/import", {"facts": 1}, 400),
        ("PUT", "", None, 405),
        ("GET", "/a/b", None, 404),
    ],
)
async def test_what_cannot_be_done_is_said_in_openais_shape(
    tmp_path: Path, method: str, path: str, body: Any, status: int
) -> None:
    async with api(tmp_path) as at, at.http() as client:
        reply = await client.request(method, MEMORIES + path, json=body)
    assert reply.status_code == status
    assert reply.json()["error"]["message"]
    assert reply.json()["error"]["type"] == "invalid_request_error"
