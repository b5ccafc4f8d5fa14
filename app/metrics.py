"""Prometheus metrics: by mode and never by user. vLLM's own are in the same registry."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import perf_counter

from prometheus_client import Counter, Gauge, Histogram

from agent.reply_events import FirstToken, Reply, ReplyEvent
from memory_engine.types import Mode

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)

REPLIES = Counter("inferscale_replies", "Replies, by how they ended.", ["mode", "outcome"])
TTFT = Histogram(
    "inferscale_time_to_first_token_seconds",
    "Time from the message to the first token, recall included.",
    ["mode"],
    buckets=SECONDS,
)
E2E = Histogram(
    "inferscale_e2e_reply_latency_seconds",
    "Time from the message to the end of the reply.",
    ["mode"],
    buckets=SECONDS,
)
PROMPT_TOKENS = Counter(
    "inferscale_prompt_tokens", "Prompt tokens, by where their KV came from.", ["mode", "source"]
)
OUTPUT_TOKENS = Counter("inferscale_generation_tokens", "Generated tokens.", ["mode"])
RUNNING = Gauge("inferscale_replies_running", "Replies in progress.")
TO_REMEMBER = Gauge("inferscale_remember_queue_depth", "Messages that wait to be remembered.")
WAITING = Gauge("inferscale_api_requests_waiting", "API requests without a first token yet.")
ERRORS = Counter("inferscale_api_errors", "Error responses of the API.", ["status"])

Events = AsyncGenerator[tuple[Mode, ReplyEvent], None]


async def measured(events: Events) -> Events:
    """Count `events` and pass them on as they are."""
    began, mode, outcome = perf_counter(), None, "stopped"
    RUNNING.inc()
    try:
        async with aclosing(events):
            async for mode, event in events:
                _count(mode, event, began)
                if isinstance(event, Reply):
                    outcome = "completed"
                yield mode, event
    except Exception:
        outcome = "failed"
        raise
    finally:
        RUNNING.dec()
        if mode is not None:
            REPLIES.labels(mode, outcome).inc()


def _count(mode: Mode, event: ReplyEvent, began: float) -> None:
    if isinstance(event, FirstToken):
        TTFT.labels(mode).observe(event.e2e_ttft_ms / 1000)
    elif isinstance(event, Reply):
        E2E.labels(mode).observe(perf_counter() - began)
        PROMPT_TOKENS.labels(mode, "injected").inc(event.injected_tokens)
        PROMPT_TOKENS.labels(mode, "cached").inc(event.cached_tokens)
        PROMPT_TOKENS.labels(mode, "prefilled").inc(event.prefilled_tokens)
        OUTPUT_TOKENS.labels(mode).inc(event.output_tokens)
