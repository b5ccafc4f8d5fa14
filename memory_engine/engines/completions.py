"""Bodies and answers of vLLM's `/v1/completions` with token ids."""

import json
from collections.abc import Mapping
from typing import Any

from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.types import Chunk, Sampling, Usage

_TOKEN = "token_id:"


def completion_body(
    token_ids: list[int],
    salt: str,
    params: dict[str, object] | None,
    sampling: Sampling,
    *,
    stream: bool,
) -> dict[str, Any]:
    """The body of a request for a completion of `token_ids`.

    What is left out would be taken from the model's generation_config.json; an embedded
    engine does not look there, so everything that it may set is said.
    """
    body: dict[str, Any] = {
        "prompt": token_ids,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "seed": sampling.seed,
        "stop": list(sampling.stop),
        "ignore_eos": sampling.ignore_eos,
        "cache_salt": salt,
        "return_token_ids": True,
        "stream": stream,
    }
    if stream:
        body["stream_options"] = {"include_usage": True}
    if params:
        body["kv_transfer_params"] = params
    return body | _constraints(sampling)


def _constraints(sampling: Sampling) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if sampling.logprobs:
        body |= {"logprobs": sampling.logprobs, "return_tokens_as_token_ids": True}
    if sampling.allowed_tokens:
        body["allowed_token_ids"] = list(sampling.allowed_tokens)
    if sampling.json_schema:
        body["structured_outputs"] = {"json": sampling.json_schema}
    return body


def piece(event: Mapping[str, Any]) -> Chunk:
    """A response, or one event of a stream, as a chunk; its usage if it has any.

    Raises as `failure` for an event that tells of one.
    """
    if "error" in event:
        raise failure(500, event)
    choice = (event.get("choices") or [{}])[0]
    return Chunk(
        choice.get("text") or "",
        tuple(choice.get("token_ids") or ()),
        _usage(event) if event.get("usage") else None,
        choice.get("finish_reason"),
        _logprobs(choice.get("logprobs") or {}),
    )


def failure(status: int, answer: object) -> EngineError:
    """The error for an answer that is no completion: EngineStoppedError if a retry may help.

    answer: the body, parsed where it is JSON.
    """
    told = answer.get("error", answer) if isinstance(answer, Mapping) else answer
    message = told.get("message", told) if isinstance(told, Mapping) else told
    if isinstance(told, Mapping) and str(told.get("code", "")).isdigit():
        status = int(told["code"])
    if status in (401, 403):
        return EngineError(
            "The engine does not accept this program's key. Set INFERSCALE_SIGNING_KEY to the "
            "same secret for the engines and whoever uses them."
        )
    text = message if isinstance(message, str) else json.dumps(message)
    if status >= 500 or status in (404, 408, 429):
        return EngineStoppedError(f"The engine does not answer ({status}): {text[:500]}")
    return EngineError(f"The engine refused the request: {text[:500]}")


def _usage(event: Mapping[str, Any]) -> Usage:
    usage, times = event["usage"], event.get("metrics") or {}
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        prompt_tokens=int(usage["prompt_tokens"]),
        cached_tokens=int(details.get("cached_tokens") or 0),
        output_tokens=int(usage.get("completion_tokens") or 0),
        queue_ms=float(times.get("queue_time_ms") or 0.0),
        prefill_ms=float(times.get("time_to_first_token_ms") or 0.0),
    )


def _logprobs(found: Mapping[str, Any]) -> tuple[dict[int, float], ...]:
    steps = found.get("top_logprobs") or ()
    return tuple({int(t.removeprefix(_TOKEN)): p for t, p in step.items()} for step in steps)
