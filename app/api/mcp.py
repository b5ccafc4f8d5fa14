"""`/mcp`: asking, and searching the memory, as tools of the Model Context Protocol.

With the protocol's own SDK: Gradio's MCP server needs a version of it below 2, vLLM one from 2 on.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from agent.request import Client
from app.api.access import ApiContext, signed_in
from app.api.api_errors import answer, body_of
from app.api.running_replies import whole
from app.auth.sign_in import CALLER, Caller
from memory_engine.errors import InferScaleError
from memory_engine.types import Mode

INSTRUCTIONS = (
    "InferScale remembers what its user says of themselves. Search the memory for what is known "
    "of them; chat to have a question answered with it, or to have something remembered."
)
Message = Annotated[str, Field(description="What the user says or asks, in their own words.")]
Conversation = Annotated[
    str | None,
    Field(
        max_length=200,
        description="A name of your choice: messages with the same one follow on each other. "
        "Without it the message stands alone.",
    ),
]
Query = Annotated[str, Field(max_length=4000, description="What to look for, as a sentence.")]
Most = Annotated[int, Field(ge=1, le=100, description="How many facts at most.")]


class Memory(BaseModel):
    """A fact, and how relevant it is."""

    text: str
    when: str | None
    score: float


class Tools:
    """The tools, for whoever signed in: the request says who, never an argument."""

    def __init__(self, api: ApiContext) -> None:
        self._api = api

    async def chat(
        self, message: Message, context: Context[Any, Any], conversation: Conversation = None
    ) -> str:
        """Ask the user's personal assistant, which knows what they have told it before.

        Facts that the message states about the user are remembered for later.
        """
        service = self._api.service
        events = service.reply(
            user=_user(context),
            message=message,
            mode=Mode.KV if service.kv_available else Mode.TEXT,
            client=Client(conversation=conversation),
        )
        with _tool_errors():
            async with self._api.replies.begin(events) as running:
                return (await whole(running)).reply

    async def search_memory(
        self, query: Query, context: Context[Any, Any], most: Most = 10
    ) -> list[Memory]:
        """Search what is known of the user: facts they told, most relevant first.

        Changes nothing, and asks no language model.
        """
        with _tool_errors():
            found = await self._api.service.search(_user(context), query, most)
        return [
            Memory(text=fact.text, when=fact.when and fact.when.isoformat(), score=score)
            for fact, score in found
        ]


class McpApp:
    """The protocol over HTTP as an ASGI application; `running` while it serves.

    It keeps no session: each request is whose key it has.
    """

    def __init__(self, api: ApiContext) -> None:
        server = MCPServer("InferScale", version=version("inferscale"), instructions=INSTRUCTIONS)
        tools = Tools(api)
        server.add_tool(tools.chat, annotations=ToolAnnotations(title="Ask InferScale"))
        server.add_tool(
            tools.search_memory,
            annotations=ToolAnnotations(title="Search the memory", read_only_hint=True),
        )
        server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            # The gate looks at names of hosts, as for the whole port.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._manager: StreamableHTTPSessionManager = server.session_manager

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            scope[CALLER] = await signed_in(Request(scope))
        except InferScaleError as error:
            await answer(error)(scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)


@contextmanager
def _tool_errors() -> Iterator[None]:
    """Raise an error as a ToolError, in the words that the API has for it."""
    try:
        yield
    except InferScaleError as error:
        raise ToolError(body_of(error)[1]["error"]["message"]) from error


def _user(context: Context[Any, Any]) -> str:
    request = context.request_context.request
    assert request is not None, "a message that came over HTTP has its request"
    caller: Caller = request.scope[CALLER]
    return caller.owner(None)
