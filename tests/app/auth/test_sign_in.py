"""Sign-in by key, proxy and session, and the addresses a server may listen on."""

from pathlib import Path
from typing import Any

import pytest

from app.auth.api_keys import ApiKeys
from app.auth.sign_in import Caller, SignIn, check_exposure, from_elsewhere
from app.serving.server import serve
from app.settings import Settings
from memory_engine.errors import NotFoundError, SettingsError, SignInError
from tests.agent.agent_builder import assert_absent, opened
from ui import create_app


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_on_this_machine_nobody_has_to_sign_in(host: str) -> None:
    check_exposure(Settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org"])
async def test_a_server_that_others_reach_does_not_start_without_sign_in(host: str) -> None:
    with pytest.raises(SettingsError) as caught:
        await serve(Settings(host=host, port=0), create_app, announce=print, progress=print)
    assert f"INFERSCALE_HOST={host}" in str(caught.value)
    assert "inferscale accounts add" in str(caught.value)
    check_exposure(Settings(host=host, auth="accounts"))
    check_exposure(Settings(host=host, auth="keys"))
    check_exposure(Settings(host=host, auth="proxy", auth_peers="10.0.0.0/8"))


@pytest.mark.parametrize("peers", ["", " , ", "ten", "10.0.0.1/99"])
def test_a_proxy_has_to_have_an_address(peers: str) -> None:
    with pytest.raises(SettingsError, match="INFERSCALE_AUTH_PEERS"):
        check_exposure(Settings(auth="proxy", auth_peers=peers))


def bytes_of(folder: Path) -> bytes:
    """The contents of the files of a folder."""
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def test_a_key_is_nowhere_in_the_database_and_ends_when_revoked(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        keys = ApiKeys(parts.database)
        key = await keys.add("ann", "phone")
        other = await keys.add("ann")
        assert await keys.owner_of(key) == "ann"
        assert key not in repr(await keys.listed())
        await parts.database.clear_traces()
        await assert_absent(key, parts)
        with pytest.raises(AssertionError):
            await assert_absent("phone", parts)
        first, second = await keys.listed("ann")
        assert (first.name, second.name) == ("phone", "")
        await keys.revoke(first.id)
        assert await keys.owner_of(key) is None
        assert await keys.owner_of(other) == "ann"
        assert await keys.listed("bob") == []
        for unknown in ("99", "x"):
            with pytest.raises(NotFoundError):
                await keys.revoke(unknown)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer isk-wrong",
        "Basic !",
        "Basic YQ==",
        "Digest x",
        "x" * 9999,
    ],
)
async def test_what_is_no_key_is_refused(database_url: str, header: str) -> None:
    async with opened(database_url) as parts:
        sign_in = SignIn(Settings(auth="keys"), ApiKeys(parts.database))
        with pytest.raises(SignInError):
            await sign_in.caller({"authorization": header}, "127.0.0.1")


@pytest.mark.parametrize("own", ["Basic YW5uOnNlY3JldA==", "Bearer eyJhbGciOi", "Negotiate YII="])
async def test_what_a_proxy_signs_in_with_is_not_taken_for_a_key(
    database_url: str, own: str
) -> None:
    settings = Settings(auth="proxy", auth_peers="10.0.0.5")
    async with opened(database_url) as parts:
        sign_in = SignIn(settings, ApiKeys(parts.database))
        headers = {"authorization": own, "x-forwarded-user": "ann"}
        assert (await sign_in.caller(headers, "10.0.0.5")).name == "ann"
        with pytest.raises(SignInError):
            await sign_in.caller(headers, "10.0.0.6")
        with pytest.raises(SignInError, match="not known"):
            await sign_in.caller(headers | {"authorization": "Bearer isk-x"}, "10.0.0.5")


def owners(name: str | None, users: list[str | None]) -> list[Any]:
    return [Caller(name, "me").owner(user) for user in users]


def test_the_user_that_a_request_names_is_below_who_signed_in() -> None:
    assert owners(None, [None, "ann"]) == ["me", "ann"]
    assert owners("ann", [None, "bob", "ann", "/ "]) == ["ann", "ann/bob", "ann/ann", "ann//"]


@pytest.mark.parametrize(
    ("headers", "elsewhere"),
    [
        ({}, False),
        ({"sec-fetch-site": "same-origin", "origin": "https://a", "host": "inner:80"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "same-site", "origin": "http://a", "host": "a"}, True),
        ({"sec-fetch-site": "cross-site"}, True),
        ({"origin": "http://10.0.0.1:7860", "host": "10.0.0.1:7860"}, False),
        ({"origin": "http://10.0.0.1:8000", "host": "10.0.0.1:7860"}, True),
        ({"origin": "null", "host": "a"}, True),
    ],
)
def test_a_browsers_request_for_another_sites_page_is_known(
    headers: dict[str, str], elsewhere: bool
) -> None:
    assert from_elsewhere(headers) is elsewhere
