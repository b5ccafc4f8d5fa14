"""Commands `inferscale ask` and `inferscale compare`: replies to one question."""

from typing import Annotated, Any

import typer

from agent.reply_events import Reply, TextDelta
from app.settings import Settings
from inferscale.command import AsJson, User, run
from inferscale.output import note, say, say_json, table
from memory_engine.types import Mode

QuestionText = Annotated[str, typer.Argument(help="What to ask.")]
K = Annotated[int | None, typer.Option("--k", min=0, help="How many facts to recall.")]


def ask(
    question: QuestionText,
    user: User,
    mode: Annotated[
        Mode | None, typer.Option(help="Who computes the facts' KV. Left out: kv if it can be.")
    ] = None,
    k: K = None,
    remember: Annotated[
        bool, typer.Option(help="Keep the question and remember what it says.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Answer one question, in a conversation of its own."""

    async def work(settings: Settings) -> None:
        from app.composition import running_service

        async with running_service(settings, progress=note) as service:
            chosen = mode or (Mode.KV if service.kv_available else Mode.TEXT)
            await service.settle(user)
            events = service.reply(user=user, message=question, mode=chosen, k=k, remember=remember)
            async for event in events:
                if isinstance(event, TextDelta) and not as_json:
                    say(event.text, end="")
                elif isinstance(event, Reply):
                    say_json(event.as_json()) if as_json else say()
                    note(trace_line(event))

    run(work)


def compare(
    question: QuestionText,
    user: User,
    k: K = None,
    repeats: Annotated[int, typer.Option(min=1, help="Measured turns of each mode.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Answer one question as text and as KV, on the same token ids; nothing is remembered."""

    async def work(settings: Settings) -> None:
        from app.comparison import compare as compare_modes
        from app.composition import running_service

        async with running_service(settings, progress=note) as service:
            report = await compare_modes(
                service,
                user=user,
                message=question,
                k=k,
                repeats=repeats,
                max_tokens=settings.max_tokens,
            )
        if as_json:
            say_json(report)
        else:
            say(_comparison(question, report))

    run(work)


def _comparison(question: str, report: dict[str, Any]) -> str:
    """Format the report of a comparison as a table and a sentence."""
    columns = ["", "first token, ms", "p90", "prompt", "injected", "prefilled", "reply"]
    rows = [
        [
            mode,
            report[mode]["ttft_spread_ms"]["median"],
            report[mode]["ttft_spread_ms"]["p90"],
            report[mode]["prompt_tokens"],
            report[mode]["injected_tokens"],
            report[mode]["prefilled_tokens"],
            report[mode]["reply"],
        ]
        for mode in ("text", "kv")
    ]
    title = f"{question} (n={report['n']} after {report['warm_ups_dropped']} warm-up)"
    same = "the same reply" if report["same_reply"] else "another reply"
    verdict = f"KV is {report['speedup']:.1f}x as fast to the first token, with {same}."
    return f"{table(title, columns, rows)}\n{verdict}"


def trace_line(reply: Reply) -> str:
    """Format the trace of a reply in one line; a second one if recalled facts did not fit."""
    times = reply.timings
    line = (
        f"{reply.mode}: first token after {reply.ttft_ms:.0f} ms (recall {times.recall_ms:.0f}, "
        f"plan {times.plan_ms:.0f}, queue {times.queue_ms:.0f}, prefill {times.prefill_ms:.0f}); "
        f"{reply.prompt_tokens} prompt tokens: {reply.injected_tokens} injected, "
        f"{reply.cached_tokens} cached, {reply.prefilled_tokens} prefilled; "
        f"{len(reply.facts)} facts."
    )
    if reply.left_out:
        line += f"\n{reply.left_out} recalled facts did not fit and were left out."
    return line
