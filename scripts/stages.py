"""Stages of a first token, and the table of how long each takes.

What `scripts.first_token` measures, `scripts.timed_connector` marks and docs/performance.md shows.
"""

from collections.abc import Iterator

KEY = "first_token"
"""Under which a finished request tells its marks."""
LATE = "late"
AGAIN = "same prompt again"
NO_FACTS = "no facts"

# What ends at each mark, in order. Whose work it is stands in brackets.
STAGES = {
    "arrived": "to the engine's process, block hashes [vLLM]",
    "parsed": "parameters read, signature checked [ours]",
    "looked for": "taken from the queue, prefix cache [vLLM]",
    "looked up": "facts looked up and pinned [ours]",
    "scheduled": "blocks taken, step scheduled [vLLM]",
    "planned": "plan made, injection queued [ours]",
    "inputs ready": "inputs and attention plan of the step [vLLM]",
    "all queued": "pass and sampling queued, behind the injection if it is late [vLLM]",
    "token": "until the GPU is done and the token is copied",
    "seen": "from the scheduler to the client [vLLM]",
}


def as_table(arms: dict[str, dict[str, float]]) -> str:
    """Format a Markdown table, a stage a line."""
    return "\n".join(_lines(arms))


def _lines(arms: dict[str, dict[str, float]]) -> Iterator[str]:
    yield "| ms | " + " | ".join(arms) + " |"
    yield "| --- |" + " --- |" * len(arms)
    gpu = {"gpu inject": "the GPU: injection", "gpu then": "the GPU: from there to the sample"}
    for stage, said in (STAGES | {"all": "**all**"} | gpu).items():
        if any(stage in spans for spans in arms.values()):
            cells = (f"{spans[stage]:.2f}" if stage in spans else "" for spans in arms.values())
            yield f"| {said} | " + " | ".join(cells) + " |"
