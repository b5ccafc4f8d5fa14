"""A chat request, taken apart: instructions, history, the user's new message, sampling."""

from agent.extraction.client_tasks import is_client_task
from agent.request import Client
from agent.text import storable
from app.api.api_errors import BadRequestError, NoModelError
from app.api.chat_schema import ChatMessage, ChatRequest
from memory_engine.types import Message, Mode, Sampling

MODELS = {"inferscale-kv": Mode.KV, "inferscale-text": Mode.TEXT}
STOPS = 16


def mode_of(request: ChatRequest) -> Mode:
    """The mode that the request asks for. Raises NoModelError."""
    if request.model not in MODELS:
        raise NoModelError(
            f"There is no model {request.model[:80]!r}: choose {' or '.join(MODELS)}."
        )
    return request.inferscale.mode or MODELS[request.model]


def refuse_unsupported(request: ChatRequest) -> None:
    """Raise BadRequestError for what is asked for and would be left out."""
    if request.n not in (None, 1):
        raise BadRequestError("n: one reply a request is supported. Leave n out.", "n")
    for name in ("tools", "functions"):
        if getattr(request, name):
            raise BadRequestError(f"{name} are not supported. Leave them out.", name)
    if request.logprobs:
        raise BadRequestError("logprobs are not supported. Leave them out.", "logprobs")
    if (request.response_format or {}).get("type", "text") != "text":
        raise BadRequestError(
            "response_format: only text is supported. Leave it out.", "response_format"
        )


def taken_apart(messages: list[ChatMessage], conversation: str | None) -> tuple[str, Client]:
    """The user's new message, and what the program sends along with it.

    Raises BadRequestError where the last message is not the user's, or has more than text.
    """
    instructions, said = [], []
    for number, message in enumerate(messages):
        text = _text(message, number)
        if message.role in ("system", "developer"):
            instructions.append(text)
        else:
            role = "user" if message.role == "user" else "assistant"
            said.append(Message("user" if role == "user" else "assistant", text))
    if not said or said[-1].role != "user":
        raise BadRequestError("messages: the last one has to be the user's.", "messages")
    client = Client(
        history=tuple(turn for turn in said[:-1] if turn.content),
        instructions="\n".join(filter(None, instructions)),
        conversation=conversation,
    )
    return said[-1].content, client


def is_task(message: str, header: str | None) -> bool:
    """Whether the program asks on its own: it says so, or the message is worded like it."""
    return bool(header and header.strip()) or is_client_task(message)


def sampling_of(request: ChatRequest, max_tokens: int) -> Sampling:
    """Sampling parameters of a request; `max_tokens` where the request sets no limit."""
    stop = [request.stop] if isinstance(request.stop, str) else request.stop or []
    if len(stop) > STOPS or not all(stop):
        raise BadRequestError(f"stop: up to {STOPS} texts that are not empty.", "stop")
    return Sampling(
        max_tokens=request.max_completion_tokens or request.max_tokens or max_tokens,
        temperature=request.temperature or 0.0,
        top_p=request.top_p or 1.0,
        seed=request.seed,
        stop=tuple(stop),
    )


def _text(message: ChatMessage, number: int) -> str:
    place = f"messages.{number}"
    if message.role in ("tool", "function"):
        raise BadRequestError(f"{place}: tools are not supported.", place)
    if message.content is None or isinstance(message.content, str):
        return storable(message.content or "")
    for part in message.content:
        if part.type != "text" or part.text is None:
            raise BadRequestError(
                f"{place}: parts of type {part.type[:40]!r} are not supported, only text.", place
            )
    return storable("".join(part.text or "" for part in message.content))
