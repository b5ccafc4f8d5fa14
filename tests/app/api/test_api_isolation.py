"""Nobody sees anything of another user, at any endpoint: by key, by proxy, by name."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute

from agent.entities import Fact
from memory_engine.errors import UserError
from tests.agent.fake_memory import text_of
from tests.app.api.api_server import Api, api

KEYS = {"auth": "keys"}
CHAT = "/v1/chat/completions"
OPEN = {"/healthz", "/readyz", "/version", "/docs"}
SECRET = "Zanzibar"


def message(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "inferscale-kv", "messages": [{"role": "user", "content": text}], **more}


async def public_message(at: Api) -> tuple[Fact, str]:
    """A fact of ann's from a conversation that her program calls `trip`, and her key."""
    ann = await at.keys.add("ann")
    async with at.http(ann) as client:
        headers = {"X-Conversation-Id": "trip"}
        body = message(f"I live in {SECRET}.")
        (await client.post(CHAT, json=body, headers=headers)).raise_for_status()
    await at.parts.service.settle("ann")
    (fact,) = await at.parts.service.facts("ann")
    return fact, ann


def endpoints(at: Api) -> list[tuple[str, str]]:
    """Every endpoint of the API, whoever adds one."""
    routes = [r for r in _routes(at) if r.path not in OPEN]
    return sorted((method, r.path) for r in routes for method in r.methods)


def _routes(at: Api) -> list[APIRoute]:
    document = at.gate._api.openapi()
    return [
        APIRoute(path, lambda: None, methods=[m.upper() for m in methods])
        for path, methods in document["paths"].items()
    ]


async def ask(client: httpx2.AsyncClient, method: str, path: str, fact: Fact) -> httpx2.Response:
    """The request that would get most out of an endpoint."""
    bodies: dict[tuple[str, str], Any] = {
        ("POST", CHAT): message(f"Where do I live? {SECRET[0]}"),
        ("POST", "/v1/memories"): {"texts": ["I ski."]},
        ("POST", "/v1/memories/import"): {"format": "inferscale-facts", "version": 1, "facts": []},
        ("PATCH", "/v1/memories/{fact_id}"): {"text": "I ski well."},
    }
    params = {("GET", "/v1/memories/search"): {"q": "I live in"}}
    params[("DELETE", "/v1/memories")] = {"all": "true"}
    return await client.request(
        method,
        path.replace("{fact_id}", fact.id),
        json=bodies.get((method, path)),
        params=params.get((method, path)),
        headers={"X-Conversation-Id": "trip"},
    )


async def test_at_every_endpoint_another_key_gets_and_changes_nothing(tmp_path: Path) -> None:
    async with api(tmp_path, KEYS, reply=text_of) as at:
        fact, _ = await public_message(at)
        bob = await at.keys.add("bob")
        found = endpoints(at)
        assert len(found) >= 10
        async with at.http(bob) as client:
            for method, path in found:
                reply = await ask(client, method, path, fact)
                assert SECRET not in reply.text, (method, path)
                assert reply.status_code == (404 if "{" in path else reply.status_code)
        await at.parts.service.settle()
        assert [f.text for f in await at.parts.service.facts("ann")] == [f"I live in {SECRET}."]
        (conversation,) = await at.parts.service.conversations("ann")
        assert len(await at.parts.service.messages("ann", conversation.id)) == 2
        assert at.parts.engine.resident("ann")


async def test_at_every_endpoint_nobody_gets_in_without_a_key(tmp_path: Path) -> None:
    async with api(tmp_path, KEYS) as at:
        fact, ann = await public_message(at)
        (made,) = await at.keys.listed("ann")
        await at.keys.revoke(made.id)
        for key in (None, "wrong", "", ann):
            async with at.http(key) as client:
                for method, path in endpoints(at):
                    reply = await ask(client, method, path, fact)
                    assert reply.status_code == 401, (method, path, key)
                    assert reply.json()["error"]["type"] == "authentication_error"
                    assert reply.headers["www-authenticate"] == "Bearer"


async def test_a_user_named_with_a_key_is_below_it_and_not_another(tmp_path: Path) -> None:
    async with api(tmp_path, KEYS, reply=text_of) as at:
        await public_message(at)
        bob, ann = await at.keys.add("bob"), await at.keys.add("ann")
        for key, user in ((bob, "ann"), (ann, "bob"), (ann, "ann")):
            async with at.http(key) as client:
                reply = await client.post(CHAT, json=message("Where do I live?", user=user))
                assert SECRET not in reply.text
                listed = await client.get("/v1/memories", params={"user": user})
                assert listed.json()["data"] == []
        async with at.http(ann) as client:
            await client.post("/v1/memories", json={"texts": ["I ski."]}, params={"user": "x"})
        assert await at.parts.known("ann/x") == ["I ski."]


async def test_who_is_below_a_key_cannot_be_signed_in_for(tmp_path: Path) -> None:
    async with api(tmp_path, KEYS) as at:
        with pytest.raises(UserError, match="/"):
            await at.keys.add("ann/x")


async def test_a_proxys_header_is_believed_from_the_proxy_alone(tmp_path: Path) -> None:
    settings = {"auth": "proxy", "auth_peers": "10.0.0.5, 10.1.0.0/16", "auth_header": "X-User"}
    async with api(tmp_path, settings) as at:
        await at.parts.service.add_fact("ann", "I ski.")
        for peer, status in (("10.0.0.5", 200), ("10.1.2.3", 200), ("10.0.0.6", 401), ("x", 401)):
            async with at.http(peer=peer) as client:
                reply = await client.get("/v1/memories", headers={"X-User": "ann"})
                assert reply.status_code == status
                forwarded = {"X-User": "ann", "X-Forwarded-For": "10.0.0.5"}
                assert (await client.get("/v1/memories", headers=forwarded)).status_code == status
        async with at.http(peer="10.0.0.5") as client:
            assert (await client.get("/v1/memories")).status_code == 401
            below = await client.get("/v1/memories", headers={"X-User": "ann/x"})
            assert below.status_code == 400
            mine = await client.get("/v1/memories", headers={"X-User": "ann"})
            others = await client.get("/v1/memories", headers={"X-User": "bob"})
    assert [m["text"] for m in mine.json()["data"]] == ["I ski."]
    assert others.json()["data"] == []


async def test_statistics_name_no_user(tmp_path: Path) -> None:
    async with api(tmp_path, KEYS) as at:
        _, ann = await public_message(at)
        async with at.http(ann) as client:
            text = (await client.get("/metrics")).text
    assert "ann" not in text.replace("annotation", "")
    assert SECRET not in text
