"""Schema of `POST /v1/chat/completions`. OpenAI's fields that we do not know are ignored."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memory_engine.types import Mode

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Part(BaseModel):
    """A part of a message's content."""

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """A message of the conversation. `developer` is what newer clients call `system`."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(BaseModel):
    """Options of a stream: its parts besides the reply."""

    include_usage: bool = False


class Extension(BaseModel):
    """InferScale's own fields.

    `mode` wins over the model's name. `k` is how many facts to recall at most. Without
    `remember` nothing of the message is kept.
    """

    model_config = ConfigDict(extra="forbid")

    mode: Mode | None = None
    k: int | None = Field(None, ge=0, le=1000)
    remember: bool = True


class ChatRequest(BaseModel):
    """A request for a reply to the last message, which is the user's."""

    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    stop: str | list[str] | None = Field(None, max_length=1000)
    seed: int | None = Field(None, ge=-(2**63), lt=2**63)
    n: int | None = None
    user: Name | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    response_format: dict[str, Any] | None = None
    logprobs: bool | None = None
    inferscale: Extension = Extension()
