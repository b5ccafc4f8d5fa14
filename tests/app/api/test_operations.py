"""Health, versions, metrics and the description of the API."""

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from app.api.application import create_api
from tests.app.api.api_server import Api, api

CHAT = "/v1/chat/completions"


async def sample(at: Api, name: str, **labels: str) -> float:
    """The value of a metric now; 0 for one that has no such sample yet."""
    async with at.http() as client:
        text = (await client.get("/metrics")).text
    for family in text_string_to_metric_families(text):
        for found in family.samples:
            if found.name == name and labels.items() <= found.labels.items():
                return found.value
    return 0.0


async def test_it_is_ready_until_it_stops(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.http() as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).json() == {"status": "ready", "kv": True}
        await at.context.replies.drain(0)
        stopping = await client.get("/readyz")
        assert stopping.status_code == 503
        assert (await client.get("/healthz")).status_code == 200


async def test_metrics_count_replies_and_tokens_by_mode(tmp_path: Path) -> None:
    tokens = "inferscale_prompt_tokens_total"
    async with api(tmp_path) as at:
        await at.parts.service.add_fact("ann", "I like plums.")
        before = {
            source: await sample(at, tokens, mode="kv", source=source)
            for source in ("injected", "prefilled")
        }
        counted = await sample(at, "inferscale_time_to_first_token_seconds_count", mode="kv")
        ended = await sample(at, "inferscale_replies_total", mode="kv", outcome="completed")
        async with at.http() as client:
            message = {"role": "user", "content": "What do I like?"}
            body = {"model": "inferscale-kv", "messages": [message], "user": "ann"}
            account = (await client.post(CHAT, json=body)).json()["inferscale"]
            await client.post(CHAT, json=body | {"model": "x"})
        for source, value in before.items():
            grown = await sample(at, tokens, mode="kv", source=source) - value
            assert grown == account["tokens"][source] > 0
        name = "inferscale_time_to_first_token_seconds_count"
        assert await sample(at, name, mode="kv") == counted + 1
        name = "inferscale_replies_total"
        assert await sample(at, name, mode="kv", outcome="completed") == ended + 1
        assert await sample(at, "inferscale_api_errors_total", status="404") >= 1
        await at.parts.service.settle()
        assert await sample(at, "inferscale_remember_queue_depth") == 0


async def test_the_document_describes_every_endpoint_and_the_page_lists_it(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.http() as client:
        document = (await client.get("/openapi.json")).json()
        page = (await client.get("/docs")).text
        versions = (await client.get("/version")).json()
        expected = create_api(at.context).openapi()
    assert document == expected
    assert {CHAT, "/v1/models", "/v1/memories", "/v1/memories/{fact_id}"} <= document[
        "paths"
    ].keys()
    assert all(path in page for path in document["paths"])
    assert "://" not in page
    assert versions["version"] == document["info"]["version"]
