"""Remote engine: `vllm serve` with the InferScale connector, reached over HTTP."""

import hashlib
import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import httpx

from memory_engine.connector.protocol.outcome import Outcome
from memory_engine.connector.protocol.params import KEY, outcome_params, signed, with_ticket
from memory_engine.connector.protocol.signature import api_key
from memory_engine.engines.completions import completion_body, failure, piece
from memory_engine.engines.vllm_engine import Output, VllmEngine
from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.types import Chunk, Sampling

SESSION_HEADER = "X-Session-ID"
_PATH = "/v1/completions"
# Below the 5 s after which vLLM closes an idle connection.
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=3.0)


class RemoteEngine(VllmEngine):
    """One `vllm serve` that `inferscale engine` started, or a router in front of several.

    url: where it listens. signing_key: the secret it was started with. timeout: seconds
    without a byte from the engine after which it counts as stopped.
    """

    def __init__(self, url: str, signing_key: str, *, timeout: float = 60.0) -> None:
        self.url = url.rstrip("/")
        self._key = signing_key
        self._starts: dict[str, str] = {}
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {api_key(signing_key)}"},
            timeout=httpx.Timeout(timeout, connect=5.0),
            limits=_LIMITS,
        )

    async def start(self) -> None:
        """Ask the engine what it is, and run the conformance gate.

        Raises EngineStoppedError when it cannot be reached, and EngineError for another key.
        """
        await self.inspect()

    async def healthy(self) -> bool:
        """True if the server answers and its engine runs."""
        try:
            return (await self._http.get("/health", timeout=5.0)).is_success
        except httpx.TransportError:
            return False

    def home(self, owner: str) -> str:
        """Start of the engine that the owner's last request reached, "" before any."""
        return self._starts.get(owner, "")

    async def aclose(self) -> None:
        await self._http.aclose()

    async def request(
        self,
        owner: str,
        token_ids: list[int],
        salt: str,
        params: dict[str, object] | None,
        sampling: Sampling,
    ) -> AsyncGenerator[Output, None]:
        # vLLM gives the outcome in a whole response only; there is nothing to stream of one token.
        stream = sampling.max_tokens > 1
        ticket = uuid.uuid4().hex
        if params is not None:
            params = signed(with_ticket(params, ticket) if stream else params, self._key)
        body = completion_body(token_ids, salt, params, sampling, stream=stream)
        headers = _session(owner)
        if not stream:
            answer = await self._post(body, headers)
            yield Output(piece(answer), self._seen(owner, answer.get("kv_transfer_params")))
            return
        async with aclosing(self._stream(body, headers)) as chunks:
            async for chunk in chunks:
                last = chunk.usage is not None and params is not None
                yield Output(chunk, await self._fetch_outcome(owner, ticket) if last else {})

    async def _fetch_outcome(self, owner: str, ticket: str) -> Outcome:
        """The outcome of a stream that has ended; none if its engine has stopped since."""
        params = signed(outcome_params(owner, ticket), self._key)
        sampling = Sampling(max_tokens=1)
        body = completion_body([0], "control", params, sampling, stream=False)
        try:
            answer = await self._post(body, _session(owner))
        except EngineStoppedError:
            return {}
        outcome = self._seen(owner, answer.get("kv_transfer_params"))
        return {} if outcome.get("op") == "outcome" else outcome

    def _seen(self, owner: str, params: dict[str, Any] | None) -> Outcome:
        """The connector's outcome in a response; notes which engine gave it."""
        outcome: Outcome = (params or {}).get(KEY, {})
        if owner and outcome.get("start"):
            self._starts[owner] = str(outcome["start"])
        return outcome

    async def _post(self, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        try:
            response = await self._http.post(_PATH, json=body, headers=headers)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if not response.is_success:
            raise failure(response.status_code, _parsed(response.content))
        answer = _parsed(response.content)
        if not isinstance(answer, dict):
            raise EngineError(f"{self.url} is no engine: {str(answer)[:200]}")
        return answer

    async def _stream(
        self, body: dict[str, Any], headers: dict[str, str]
    ) -> AsyncGenerator[Chunk, None]:
        """Chunks as they come; the last one has usage and the finish reason."""
        reason: str | None = None
        last: Chunk | None = None
        try:
            async with self._http.stream("POST", _PATH, json=body, headers=headers) as response:
                if not response.is_success:
                    raise failure(response.status_code, _parsed(await response.aread()))
                async for event in _events(response):
                    chunk = piece(event)
                    reason = chunk.finish_reason or reason
                    if chunk.usage is not None:
                        last = chunk
                    else:
                        yield replace(chunk, finish_reason=None)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if last is None:
            raise EngineStoppedError(f"The engine at {self.url} ended a reply before its end.")
        yield replace(last, finish_reason=reason)

    def _unreachable(self, error: httpx.TransportError) -> EngineError:
        reason = str(error) or type(error).__name__
        return EngineStoppedError(f"The engine at {self.url} does not answer: {reason}")


def _session(owner: str) -> dict[str, str]:
    """Header by which a router finds the owner's engine; a digest, for it ends up in logs."""
    return {SESSION_HEADER: hashlib.sha256(owner.encode()).hexdigest()[:32]} if owner else {}


async def _events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data:") and (data := line[5:].strip()) != "[DONE]":
            event = _parsed(data.encode())
            if not isinstance(event, dict):
                # What a proxy makes of a stream that broke need not look broken.
                raise EngineStoppedError("The engine broke off a reply.")
            yield event


def _parsed(content: bytes) -> object:
    try:
        parsed: object = json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
    return parsed
