"""The page as Gradio serves it: endpoints, queues, what a client may call."""

import json
import urllib.request
from collections.abc import Iterator

import pytest
from gradio_client import Client  # type: ignore[import-untyped]
from gradio_client.exceptions import AppError  # type: ignore[import-untyped]

from tests.ui.fake_service import FakeService
from tests.ui.page_server import GRADIO_WARNINGS, Served, fake_served
from ui import build_ui

pytestmark = GRADIO_WARNINGS


@pytest.fixture(scope="module")
def page() -> Iterator[Served[FakeService]]:
    with fake_served(FakeService()) as served:
        yield served


@pytest.fixture
def client(page: Served[FakeService]) -> Iterator[Client]:
    client = Client(page.url, verbose=False)
    yield client
    client.close()


def test_chat_is_the_only_public_endpoint(client: Client) -> None:
    api = client.view_api(return_format="dict", print_info=False)
    assert isinstance(api, dict)
    assert list(api["named_endpoints"]) == ["/chat"]
    assert api["unnamed_endpoints"] == {}


def test_the_endpoint_streams_the_growing_reply(client: Client) -> None:
    job = client.submit(message="Who?", mode="kv", api_name="/chat")
    assert job.result(timeout=20) == "Your dog is Biscuit."
    assert job.outputs()[-1] == "Your dog is Biscuit."


@pytest.mark.parametrize(("message", "mode", "told"), [(" ", "kv", "empty"), ("a", "x", "no mode")])
def test_the_endpoint_says_what_was_wrong(
    client: Client, message: str, mode: str, told: str
) -> None:
    with pytest.raises(AppError, match=told):
        client.predict(message=message, mode=mode, api_name="/chat")


async def test_generating_events_do_not_wait_for_one_another() -> None:
    demo = build_ui(FakeService())
    generating = [fn for fn in demo.fns.values() if fn.queue and fn.types_generator]
    assert len(generating) >= 4
    for fn in generating:
        assert fn.concurrency_limit is None
        assert fn.concurrency_id is not None


async def test_nothing_is_sent_to_anybody_else() -> None:
    demo = build_ui(FakeService())
    assert demo.analytics_enabled is False


def test_run_history_and_footer_are_off(page: Served[FakeService]) -> None:
    with urllib.request.urlopen(f"{page.url}/config") as answer:
        config = json.load(answer)
    assert config["footer_links"] == []
    assert config["run_history"] is False
    assert "fonts.googleapis" not in json.dumps(config)


async def test_where_kv_is_refused_the_modes_are_off_and_the_reason_is_given() -> None:
    demo = build_ui(FakeService(kv_available=False))
    [mode] = [b for b in demo.blocks.values() if getattr(b, "label", "") == "Mode"]
    config = mode.get_config()
    assert (config["value"], config["interactive"]) == ("text", False)
    assert "its attention is not supported" in config["info"]
