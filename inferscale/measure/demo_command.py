"""Command `inferscale demo`: right answers with text, KV and without memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.settings import Settings
from inferscale.command import AsJson, run
from inferscale.output import note, say, say_json, table

if TYPE_CHECKING:
    from benchmarks.demo import DemoAnswer


def demo(as_json: AsJson = False) -> None:
    """Ask a sample person's twenty questions as text, as KV and without memory."""

    async def work(settings: Settings) -> None:
        from benchmarks.demo import demo as run_demo
        from benchmarks.demo import report

        answers = await run_demo(settings, note)
        (note if as_json else say)(_answers_table(answers))
        say_json(report(answers))

    run(work)


def _answers_table(answers: "Sequence[DemoAnswer]") -> str:
    rows: list[list[object]] = []
    for each in answers:
        replies = [each.replies[arm] for arm in ("text", "kv")]
        marks = ["yes" if each.right(arm) else "no" for arm in ("text", "kv", "none")]
        times = [reply.ttft_ms for reply in replies]
        same = "yes" if replies[0].reply == replies[1].reply else "no"
        rows.append([each.question.question, each.question.answer, *marks, same, *times])
    columns = ["question", "answer", "text", "kv", "none", "same", "text ms", "kv ms"]
    return table("Right answers, and ms to the first token", columns, rows)
