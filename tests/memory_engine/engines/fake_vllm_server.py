"""`vllm serve` without a model: its HTTP, over the connector's real scheduler side.

It says the token after the last one of the prompt, counting up, so that every reply is known.
What goes wrong is told to it: `script` has one entry for each completion to come that streams.
"""

import asyncio
import json
import socket
import uuid
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import WorkerReport
from memory_engine.connector.protocol.params import KEY as PARAMS
from memory_engine.connector.protocol.signature import api_key
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers

KEY = "k" * 32
Mishap = Literal["", "hang", "refuse", "break before", "break after"]


class FakeServe:
    """One engine. `restart` loses its arena, as a new process would."""

    def __init__(self, key: str = KEY, fingerprint: str = "same", supported: bool = True) -> None:
        self._key = key
        self._fingerprint = fingerprint
        self._supported = supported
        self.script: deque[Mishap] = deque()
        self.bodies: list[dict[str, Any]] = []
        self.aborted = asyncio.Event()
        self.url = ""
        self.restart()

    def restart(self) -> None:
        """A new start: nothing is resident, and no probe has passed."""
        description = {
            "start": uuid.uuid4().hex,
            "model": "fake",
            "fingerprint": self._fingerprint,
            "max_model_len": 1000,
            "vocab_size": 9000,
            "dtype": "torch.float32",
            "device": "cpu",
            "versions": {},
            "arena_bytes": 4000,
            "store_dtype": "auto",
            "keeps_snapshots": False,
        }
        self.side = SchedulerSide(
            Tiers(Arena(400)), 4, key=self._key.encode(), description=description
        )

    def app(self) -> FastAPI:
        """The HTTP server's application."""
        app = FastAPI()

        @app.get("/health")
        async def health() -> Response:
            return Response()

        @app.post("/v1/completions")
        async def completions(request: Request) -> Response:
            return await self._complete(request)

        return app

    async def _complete(self, request: Request) -> Response:
        if request.headers.get("Authorization") != f"Bearer {api_key(self._key)}":
            return JSONResponse({"error": "Unauthorized"}, 401)
        body = await request.json()
        self.bodies.append(body)
        if len(body["prompt"]) >= 1000:
            told = {"message": "the prompt is longer than 1000 tokens", "code": 400}
            return JSONResponse({"error": told}, 400)
        mishap = self.script.popleft() if body["stream"] and self.script else ""
        if mishap == "refuse":
            return JSONResponse({"error": {"message": "EngineCore died", "code": 500}}, 500)
        if body["stream"]:
            return StreamingResponse(self._stream(body, mishap), media_type="text/event-stream")
        outcome = self._planned(body)
        return JSONResponse(
            self._event(body, 0, body["max_tokens"])
            | {"usage": self._usage(body), "kv_transfer_params": outcome}
        )

    async def _stream(self, body: dict[str, Any], mishap: Mishap) -> AsyncIterator[str]:
        count, sent = body["max_tokens"], 0
        try:
            if mishap == "hang":
                await asyncio.sleep(60)
            self._planned(body)
            for number in range(count):
                if mishap == "break before" or (mishap == "break after" and number == 2):
                    raise ConnectionError(mishap)
                yield _line(self._event(body, number, 1))
                sent += 1
                await asyncio.sleep(0.005)
            yield _line({"choices": [], "usage": self._usage(body)})
            yield "data: [DONE]\n\n"
        finally:
            if sent < count and not mishap:
                self.aborted.set()

    def _planned(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """What vLLM's scheduler would ask of the connector for one request, in one step."""
        raw, prompt = body.get("kv_transfer_params"), body["prompt"]
        if raw is None:
            return None
        request_id, tokens = uuid.uuid4().hex, len(prompt)
        self.side.arrived(request_id, raw[PARAMS], tokens)
        found = self.side.lookup(request_id, tokens, 0)
        self.side.admitted(request_id, found)
        steps = {}
        if self.side.needs_step(request_id):
            steps[request_id] = (found, tokens - found, list(range(tokens // 4 + 1)))
        for probe in self.side.step_orders(steps).probes:
            reason = "" if self._supported else "its RoPE is not understood"
            self.side.report(WorkerReport({probe.request_id: Verdict(reason)}))
        outcome = self.side.finished(request_id)
        self.side.step_orders({})
        return outcome

    def _event(self, body: dict[str, Any], number: int, count: int) -> dict[str, Any]:
        ids = [body["prompt"][-1] + 1 + number + n for n in range(count)]
        last = number + count == body["max_tokens"]
        choice: dict[str, Any] = {"text": "".join(f" {i}" for i in ids), "token_ids": ids}
        if body.get("logprobs"):
            choice["logprobs"] = {"top_logprobs": [{f"token_id:{i}": -0.5} for i in ids]}
        return {"choices": [choice | {"finish_reason": "length" if last else None}]}

    def _usage(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"prompt_tokens": len(body["prompt"]), "completion_tokens": body["max_tokens"]}


@asynccontextmanager
async def serving(engine: FakeServe, port: int = 0) -> AsyncIterator[FakeServe]:
    """Serve it on a port of its own; at the end connections are cut, as by kill -9."""
    listener = socket.create_server(("127.0.0.1", port))
    engine.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(engine.app(), log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve([listener]))
    try:
        yield engine
    finally:
        server.should_exit = server.force_exit = True
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        await running
        listener.close()


def _line(event: dict[str, Any]) -> str:
    return f"data: {json.dumps(event)}\n\n"
