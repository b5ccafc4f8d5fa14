"""The fake engine keeps the interface's promises about log probabilities."""

from memory_engine.engines.fake import FakeEngine
from memory_engine.types import Chunk, Mode, Prompt, Sampling


async def chunks(sampling: Sampling) -> list[Chunk]:
    engine = FakeEngine(lambda prompt: "one two")
    await engine.start()
    return [each async for each in engine.generate(Prompt("anna", [1]), Mode.TEXT, sampling)]


async def test_log_probabilities_come_only_when_asked_for() -> None:
    assert all(chunk.logprobs == () for chunk in await chunks(Sampling()))
    asked = await chunks(Sampling(logprobs=1))
    assert [chunk.logprobs for chunk in asked] == [({0: 0.0},), ({1: 0.0},), ()]


async def test_only_an_allowed_token_is_chosen() -> None:
    forced = await chunks(Sampling(max_tokens=1, logprobs=1, allowed_tokens=(42,)))
    assert forced[0].token_ids == (42,)
    assert forced[0].logprobs == ({42: 0.0},)
