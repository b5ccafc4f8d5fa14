"""A reply as a chat completion: in one piece, or as server-sent events."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from time import time
from typing import Any
from uuid import uuid4

from agent.reply_events import Reply, ReplyEvent, TextDelta
from app.api.api_errors import body_of
from app.api.running_replies import Running


@dataclass(frozen=True, slots=True)
class Completion:
    """The fields that all pieces of one completion share."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid4().hex}")
    created: int = field(default_factory=lambda: int(time()))

    def whole(self, reply: Reply) -> dict[str, Any]:
        """The completion in one piece."""
        message = {"role": "assistant", "content": reply.reply}
        choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
        body = self._body("chat.completion", [choice | {"logprobs": None}])
        return body | {"usage": usage_of(reply), "inferscale": trace_of(reply)}

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        """A piece of the completion."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._body("chat.completion.chunk", [choice])

    def usage(self, reply: Reply) -> dict[str, Any]:
        """The last piece, for who asked for the usage."""
        return self._body("chat.completion.chunk", []) | {"usage": usage_of(reply)}

    def _body(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }


async def stream_of(
    completion: Completion, running: Running, first: ReplyEvent | None, *, usage: bool
) -> AsyncGenerator[str, None]:
    """The events of a stream. InferScale's trace comes with the last chunk there is."""
    yield _event(completion.chunk({"role": "assistant", "content": ""}))
    event = first
    try:
        while event is not None:
            if isinstance(event, TextDelta):
                yield _event(completion.chunk({"content": event.text}))
            elif isinstance(event, Reply):
                extra = {"inferscale": trace_of(event)}
                last = completion.chunk({}, event.finish_reason)
                yield _event(last if usage else last | extra)
                if usage:
                    yield _event(completion.usage(event) | extra)
            event = await running.next()
    except Exception as error:
        yield _event(body_of(error)[1])
    yield "data: [DONE]\n\n"


def usage_of(reply: Reply) -> dict[str, Any]:
    """OpenAI's usage. Cached is what nobody prefilled, injected KV included."""
    return {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.prompt_tokens + reply.output_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens + reply.injected_tokens},
    }


def trace_of(reply: Reply) -> dict[str, Any]:
    """The trace of a reply as InferScale's own field; times are milliseconds."""
    fields = reply.as_json()
    kinds = ("prompt", "injected", "cached", "prefilled", "output")
    return {
        "mode": reply.mode.value,
        "conversation_id": reply.conversation_id,
        "facts": fields["facts"],
        "left_out": reply.left_out,
        "ttft_ms": reply.ttft_ms,
        "e2e_ttft_ms": reply.e2e_ttft_ms,
        "timings": fields["timings"],
        "tokens": {kind: fields[f"{kind}_tokens"] for kind in kinds},
    }


def _event(body: dict[str, Any]) -> str:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"
