"""A client of the API's chat: messages, and a request with OpenAI's own client."""

from typing import Any

from tests.app.api.api_server import Api


def said(*turns: str) -> list[Any]:
    """The turns of user and assistant in turn, as a request has them."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]


async def ask(at: Api, *turns: str, **options: Any) -> Any:
    """A reply in one piece, when what was said is remembered."""
    async with at.openai() as client:
        options = {"model": "inferscale-kv", "user": "ann"} | options
        messages = options.pop("messages", said(*turns))
        reply = await client.chat.completions.create(messages=messages, **options)
    await at.parts.service.settle("ann")
    return reply
