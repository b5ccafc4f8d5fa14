"""The refusal of an engine whose connector speaks another version of the protocol."""

import pytest

from memory_engine.connector.protocol.outcome import version_error
from memory_engine.engines.remote import RemoteEngine
from memory_engine.errors import EngineError
from tests.memory_engine.engines.fake_vllm_server import KEY, FakeServe, serving


async def test_an_engine_of_another_version_is_refused_by_that_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Version 1 reads no `version`, and takes the signature over more fields for a wrong key."""
    served = FakeServe()
    old = {"op": None, "error": "the request is not signed with this engine's key"}
    monkeypatch.setattr(served.side, "finished", lambda request_id: {"inferscale": old})
    async with serving(served):
        engine = RemoteEngine(served.url, KEY)
        with pytest.raises(EngineError, match="another version of InferScale's connector"):
            await engine.start()
        await engine.aclose()
    assert version_error(old)
