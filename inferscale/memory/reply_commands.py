"""`inferscale ask` and `inferscale compare`: a question, answered with what is known."""

from typing import Annotated

import typer

from agent.reply_events import Reply, TextDelta
from app.settings import Settings
from inferscale.command import AsJson, User, run
from inferscale.output import note, say, say_json, table
from memory_engine.types import Mode

Question = Annotated[str, typer.Argument(help="What to ask.")]
K = Annotated[int | None, typer.Option("--k", min=0, help="How many facts to recall.")]


def ask(
    question: Question,
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
                    note(account_of(event))

    run(work)


def compare(
    question: Question,
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
            return
        say(
            table(
                f"{question} (n={report['n']} after {report['warm_ups_dropped']} warm-up)",
                ["", "first token, ms", "p90", "prompt", "injected", "prefilled", "reply"],
                [
                    [
                        name,
                        report[name]["ttft_spread_ms"]["median"],
                        report[name]["ttft_spread_ms"]["p90"],
                        report[name]["prompt_tokens"],
                        report[name]["injected_tokens"],
                        report[name]["prefilled_tokens"],
                        report[name]["reply"],
                    ]
                    for name in ("text", "kv")
                ],
            )
        )
        same = "the same reply" if report["same_reply"] else "another reply"
        say(f"KV is {report['speedup']:.1f}x as fast to the first token, with {same}.")

    run(work)


def account_of(reply: Reply) -> str:
    """How a reply came about, in one line, and what did not fit."""
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
