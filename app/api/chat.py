"""`GET /v1/models` and `POST /v1/chat/completions`."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.access import ApiContext, ApiContextDep, ChatHeaders, ChatHeadersDep, SignedIn
from app.api.chat_messages import (
    MODELS,
    is_task,
    mode_of,
    refuse_unsupported,
    sampling_of,
    taken_apart,
)
from app.api.chat_schema import ChatRequest
from app.api.completion import Completion, stream_of
from app.api.running_replies import Running, whole
from app.auth.sign_in import Caller
from memory_engine.types import Mode

CLIENT_IS_GONE = 499

router = APIRouter(prefix="/v1", tags=["chat"])
Result = TypeVar("Result")


@router.get("/models")
async def models(api: ApiContextDep, _: SignedIn) -> dict[str, Any]:
    """The models, one a mode. Without KV injection there is only text."""
    offered = [
        {"id": name, "object": "model", "created": 0, "owned_by": "inferscale"}
        for name, mode in MODELS.items()
        if mode is Mode.TEXT or api.service.kv_available
    ]
    return {"object": "list", "data": offered}


@router.post("/chat/completions", response_model=None)
async def chat(
    request: Request,
    body: ChatRequest,
    api: ApiContextDep,
    caller: SignedIn,
    headers: ChatHeadersDep,
) -> Response:
    """Reply to the last message with what is known of the user, and remember it.

    What the program asks for on its own (titles, tags, what to ask next) is answered without
    memory and leaves nothing. A program that goes away ends its reply.
    """
    running = _begin(body, api, caller, headers)
    completion = Completion(body.model)
    try:
        if not body.stream:
            reply = await _unless_gone(request, whole(running))
            if reply is None:
                return _given_up(running)
            return JSONResponse(completion.whole(reply))
        # Errors before the first token still have a status of their own.
        first = await _unless_gone(request, running.next())
        if first is None:
            return _given_up(running)
    except BaseException:
        running.task.cancel()
        raise
    usage = body.stream_options is not None and body.stream_options.include_usage
    return _Stream(running, stream_of(completion, running, first, usage=usage))


def _given_up(running: Running) -> Response:
    running.task.cancel()
    return Response(status_code=CLIENT_IS_GONE)


def _begin(body: ChatRequest, api: ApiContext, caller: Caller, headers: ChatHeaders) -> Running:
    mode = mode_of(body)
    refuse_unsupported(body)
    conversation = headers.conversation or headers.open_webui_chat
    message, client = taken_apart(body.messages, conversation)
    remember, k = body.inferscale.remember, body.inferscale.k
    if is_task(message, headers.task):
        message, client = taken_apart(body.messages, None)
        remember, k = False, 0
    events = api.service.reply(
        user=caller.owner(body.user or headers.open_webui_user),
        message=message,
        mode=mode,
        k=k,
        remember=remember,
        sampling=sampling_of(body, api.settings.max_tokens),
        client=client,
    )
    return api.replies.begin(events)


class _Stream(StreamingResponse):
    """Server-sent events, whose reply ends with the response, however that ends."""

    def __init__(self, running: Running, events: Any) -> None:
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._running = running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._running.task.cancel()


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result | None:
    """The result of `work`, or None when the program goes away before it is there."""
    working = asyncio.create_task(work)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else None
    finally:
        for task in (working, gone):
            task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
