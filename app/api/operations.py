"""Endpoints for operators: liveness, readiness, version and metrics."""

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest

from agent.db.revision import check_revision
from app.api.access import ApiContextDep, SignedIn
from app.metrics import TO_REMEMBER
from memory_engine.errors import InferScaleError

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Whether the process answers."""
    return {"status": "ok"}


@router.get("/readyz", response_model=None)
async def readyz(api: ApiContextDep) -> Response:
    """Whether a request would get a reply: 503 when the database or the end is near."""
    try:
        api.replies.admit()
        await check_revision(api.service.database)
    except InferScaleError as error:
        body = {"status": "not ready", "reason": type(error).__name__.removesuffix("Error")}
        return JSONResponse(body, 503)
    return JSONResponse({"status": "ready", "kv": api.service.kv_available})


@router.get("/version")
async def versions() -> dict[str, Any]:
    """The versions of what serves."""
    return {"version": version("inferscale")}


@router.get("/metrics", response_model=None)
async def metrics(api: ApiContextDep, _: SignedIn) -> Response:
    """Prometheus metrics: ours by mode, and vLLM's own."""
    TO_REMEMBER.set(api.service.to_remember)
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
