"""The Python of README.md runs as it stands there, against a server of this repository."""

import asyncio
import contextlib
import io
import re
from pathlib import Path

from scripts.readme import README
from tests.app.api.api_server import served

EXAMPLES = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)


async def test_the_examples_run_one_after_the_other_and_are_remembered(tmp_path: Path) -> None:
    assert len(EXAMPLES) == 2, "a client of OpenAI's, and a LangGraph graph"
    async with served(tmp_path) as at:
        program = "\n".join(EXAMPLES).replace("127.0.0.1:7860", f"127.0.0.1:{at.port}")
        printed = io.StringIO()

        def run() -> None:
            with contextlib.redirect_stdout(printed):
                exec(compile(program, "README.md", "exec"), {})

        await asyncio.to_thread(run)
        await at.parts.service.settle("ann")
        facts = [fact.text for fact in await at.parts.service.facts("ann")]
    assert facts == ["My dog is called Biscuit."]
    assert printed.getvalue().count("All right then.") == 3
