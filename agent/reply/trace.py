"""Makes the trace of a finished reply: times, token counts, and the facts it used. Pure."""

from agent.reply.reply_state import ReplyState
from agent.reply_events import Reply, Timings, UsedFact
from memory_engine.types import Chunk, Mode, Plan, Usage


def trace(
    state: ReplyState,
    mode: Mode,
    text: str,
    last: Chunk,
    conversation_id: str | None,
    times: tuple[float, float, float],
) -> Reply:
    """The finished reply `text` with its trace, from the plan and the engine's last chunk.

    times, in milliseconds: to the first token from asking the engine and from the user's
    message, and to the last token from asking the engine.
    """
    plan, usage = state["plan"], last.usage
    ttft_ms, e2e_ttft_ms, e2el_ms = times
    assert usage is not None, "the last chunk carries the usage"
    return Reply(
        reply=text,
        mode=mode,
        conversation_id=conversation_id,
        finish_reason=last.finish_reason or "stop",
        ttft_ms=ttft_ms,
        e2e_ttft_ms=e2e_ttft_ms,
        timings=Timings(
            recall_ms=state["recall_ms"],
            plan_ms=state["plan_ms"],
            queue_ms=usage.queue_ms,
            prefill_ms=usage.prefill_ms,
        ),
        prompt_tokens=usage.prompt_tokens,
        injected_tokens=usage.injected_tokens,
        cached_tokens=usage.cached_tokens,
        prefilled_tokens=usage.prefilled_tokens,
        output_tokens=usage.output_tokens,
        facts=_used_facts(plan, usage, mode),
        left_out=plan.left_out,
        tpot_ms=(e2el_ms - ttft_ms) / max(1, usage.output_tokens - 1),
    )


def _used_facts(plan: Plan, usage: Usage, mode: Mode) -> tuple[UsedFact, ...]:
    injected = injected_facts(plan, usage) if mode is Mode.KV else frozenset()
    return tuple(
        UsedFact(r.fact.id, r.fact.text, r.fact.when, r.score, r.fact.id in injected, r.fact.source)
        for r in plan.used
    )


def injected_facts(plan: Plan, usage: Usage) -> frozenset[str]:
    """The ids of the facts whose KV came from the arena.

    Injection stops at the first missing segment, and the injectable facts are the last
    spans of the prompt, one each, in prompt order. Where that does not hold, facts behind
    a missing segment cannot be told from others, and none counts as injected.
    """
    injectable = [r.fact.id for r in plan.used if r.fact.id in plan.injectable]
    if not usage.missing:
        return frozenset(injectable)
    segments = [span.segment_id for span in plan.prompt.spans]
    missing = set(usage.missing)
    first = next((n for n, segment in enumerate(segments) if segment in missing), 0)
    offset = len(segments) - len(injectable)
    return frozenset(injectable[: max(0, first - offset)]) if offset >= 0 else frozenset()
