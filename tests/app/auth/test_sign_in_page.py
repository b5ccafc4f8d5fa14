"""Signing in and out in a browser, without one: forms, cookies, sessions and their ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import select, text, update
from starlette.routing import Route

from agent.db.tables import SessionRow
from agent.db.utc import utc_now
from app.api.gate import SIGN_IN_PATHS
from app.auth.browser_sessions import BrowserSessions
from app.auth.sign_in import COOKIE
from app.auth.sign_in_page import create_sign_in_app
from tests.app.api.api_server import Api, api
from tests.app.auth.test_sign_in import bytes_of

PASSWORD = "correct horse battery"
ACCOUNTS, KEYS = {"auth": "accounts"}, {"auth": "keys"}
WRONG = "The name or the password is wrong."


@asynccontextmanager
async def with_ann(folder: Path, **settings: Any) -> AsyncIterator[Api]:
    async with api(folder, ACCOUNTS | settings) as at:
        await at.accounts.add("ann", PASSWORD)
        yield at


async def sign_in(
    client: httpx2.AsyncClient, name: str = "ann", secret: str = PASSWORD, **headers: str
) -> httpx2.Response:
    form = {"name": name, "secret": secret}
    return await client.post("/sign-in", data=form, headers=headers)


async def page_of(client: httpx2.AsyncClient) -> tuple[int, str]:
    reply = await client.get("/")
    return reply.status_code, reply.headers.get("location", reply.text)


async def test_who_signs_in_gets_the_page_and_who_signs_out_does_not(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        assert await page_of(client) == (303, "/sign-in")
        form = await client.get("/sign-in")
        assert 'autocomplete="current-password"' in form.text
        assert (await sign_in(client)).headers["location"] == "/"
        assert await page_of(client) == (200, "the page")
        token = client.cookies[COOKIE]
        assert (await client.post("/sign-out")).headers["location"] == "/sign-in"
        assert COOKIE not in client.cookies
        client.cookies.set(COOKIE, token, domain="127.0.0.1")
        assert await page_of(client) == (303, "/sign-in")


@pytest.mark.parametrize("name", ["ann", "nobody", "", "Ann", "ann/x", "a\x00nn", "<b>"])
async def test_a_wrong_password_and_an_unknown_name_are_told_the_same(
    tmp_path: Path, name: str
) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        for secret in ("wrong", "", "x" * 5000, PASSWORD.upper()):
            reply = await sign_in(client, name, secret)
            assert reply.status_code == 401
            assert f'role="alert">{WRONG}' in reply.text
            assert "<b>" not in reply.text
            assert COOKIE not in client.cookies


async def test_a_password_is_the_same_however_it_was_typed(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await at.accounts.add("bob", "Zo\u00eb's long secret")
        assert (await sign_in(client, " bob ", "Zoe\u0308's long secret")).status_code == 303


async def test_who_is_signed_in_is_not_asked_again_and_has_one_session(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await sign_in(client)
        token = client.cookies[COOKIE]
        assert (await client.get("/sign-in")).headers["location"] == "/"
        await sign_in(client)
        assert client.cookies[COOKIE] != token
        client.cookies.set(COOKIE, token, domain="127.0.0.1")
        assert await page_of(client) == (303, "/sign-in")


async def test_no_browser_keeps_the_page_for_whoever_comes_next(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        asked = await client.get("/sign-in")
        await sign_in(client)
        for reply in (asked, await client.get("/"), await client.get("/config")):
            assert reply.headers["cache-control"] == "no-store"
        assert "cache-control" not in (await client.get("/assets/x.js")).headers


async def test_the_cookie_is_for_this_site_alone_and_out_of_scripts_reach(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        cookie = (await sign_in(client)).headers["set-cookie"].lower()
        assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.split("; "))
        assert f"max-age={30 * 86400}" in cookie
        assert "secure" not in cookie
        secured = await client.post(
            "https://127.0.0.1/sign-in", data={"name": "ann", "secret": PASSWORD}
        )
        assert "secure" in secured.headers["set-cookie"].lower().split("; ")


async def test_a_session_is_nowhere_in_the_database_and_ends_on_its_day(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await sign_in(client)
        await at.parts.database.clear_traces()
        stored = bytes_of(tmp_path)
        assert client.cookies[COOKIE].encode() not in stored
        assert PASSWORD.encode() not in stored
        async with at.parts.database.write() as session:
            past = utc_now() - timedelta(seconds=1)
            await session.execute(update(SessionRow).values(expires_at=past))
        assert await page_of(client) == (303, "/sign-in")
        await sign_in(client)
        async with at.parts.database.read() as session:
            assert len((await session.scalars(select(SessionRow))).all()) == 1


async def test_a_changed_password_signs_every_browser_of_the_account_out(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as one, at.http() as two, at.http() as bobs:
        await at.accounts.add("bob", PASSWORD)
        for client, name in ((one, "ann"), (two, "ann"), (bobs, "bob")):
            await sign_in(client, name)
        await at.accounts.set_password("ann", "another long secret")
        assert [await page_of(c) for c in (one, two)] == [(303, "/sign-in")] * 2
        assert await page_of(bobs) == (200, "the page")
        assert (await sign_in(one)).status_code == 401
        assert (await sign_in(one, secret="another long secret")).status_code == 303


async def test_an_account_that_is_removed_lets_nobody_in(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await sign_in(client)
        key = await at.keys.add("ann")
        await at.accounts.remove("ann")
        assert await page_of(client) == (303, "/sign-in")
        assert (await sign_in(client)).status_code == 401
        async with at.http(key) as program:
            assert (await program.get("/v1/memories")).status_code == 401


async def test_after_ten_wrong_tries_a_name_has_to_wait_but_nobody_else(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client, at.http(peer="10.0.0.9") as other:
        for _ in range(9):
            assert (await sign_in(client, secret="wrong")).status_code == 401
        assert (await sign_in(client)).status_code == 303  # slips do not add up
        for _ in range(10):
            assert (await sign_in(client, secret="wrong")).status_code == 401
        late = await sign_in(client)
        assert late.status_code == 429
        assert int(late.headers["retry-after"]) == 900
        assert "too many failed tries" in late.text
        await at.accounts.add("bob", PASSWORD)
        assert (await sign_in(client, "bob")).status_code == 303
        assert (await sign_in(other)).status_code == 303


async def test_an_address_that_tries_many_names_has_to_wait(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at:
        tried = 0
        for n in range(101):  # of one /64, as one customer has it
            async with at.http(peer=f"2001:db8::{n:x}") as client:
                tried += (await sign_in(client, f"name{n}", "wrong")).status_code == 401
        assert tried == 100
        async with at.http(peer="2001:db8:0:1::1") as client:
            assert (await sign_in(client)).status_code == 303


async def test_a_database_that_cannot_be_used_is_told_on_the_form(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        async with at.parts.database.write() as session:
            await session.execute(text("DROP TABLE accounts"))
        reply = await sign_in(client)
        assert reply.status_code == 503
        assert "The database cannot be used." in reply.text
        assert str(tmp_path) not in reply.text


async def test_a_form_of_megabytes_is_not_read(tmp_path: Path) -> None:
    async with with_ann(tmp_path, max_request_kib=64) as at, at.http() as client:
        assert (await sign_in(client, secret="x" * (1 << 20))).status_code == 413


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/password", "/gradio_api/run/predict"])
async def test_another_sites_page_cannot_make_a_browser_post(tmp_path: Path, path: str) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await sign_in(client)
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
            reply = await client.post(path, data={"name": "x"}, headers=headers)
            assert reply.status_code == 403
        assert await page_of(client) == (200, "the page")


async def test_every_sign_in_path_is_reached(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at:
        app = create_sign_in_app(BrowserSessions(at.parts.database, 1), at.accounts)
        assert {route.path for route in app.routes if isinstance(route, Route)} == SIGN_IN_PATHS


async def test_a_browsers_session_does_not_open_the_api(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await sign_in(client)
        assert (await client.get("/v1/memories")).status_code == 401


async def test_where_there_are_only_keys_a_browser_signs_in_with_one(tmp_path: Path) -> None:
    async with api(tmp_path, KEYS) as at, at.http() as client:
        key = await at.keys.add("ann")
        form = (await client.get("/sign-in")).text
        assert "API key" in form
        assert 'name="name"' not in form
        assert (await sign_in(client, "", "isk-wrong")).status_code == 401
        assert (await sign_in(client, "", f" {key} ")).status_code == 303
        assert await page_of(client) == (200, "the page")
        (made,) = await at.keys.listed("ann")
        await at.keys.revoke(made.id)
        assert await page_of(client) == (303, "/sign-in")


async def test_a_session_of_a_key_is_none_of_an_account_and_the_other_way(tmp_path: Path) -> None:
    cookies = {}
    for settings in (ACCOUNTS, KEYS):
        async with api(tmp_path, settings) as at, at.http() as client:
            if settings is ACCOUNTS:
                await at.accounts.add("ann", PASSWORD)
            secret = PASSWORD if settings is ACCOUNTS else await at.keys.add("ann")
            await sign_in(client, "ann", secret)
            cookies[settings["auth"]] = client.cookies[COOKIE]
            for auth, token in cookies.items():
                client.cookies.set(COOKIE, token, domain="127.0.0.1")
                assert ((await page_of(client))[0] == 200) == (auth == settings["auth"])


@pytest.mark.parametrize("auth", ["off", "proxy"])
async def test_where_nobody_signs_in_on_a_page_there_is_none(tmp_path: Path, auth: str) -> None:
    settings = {"auth": auth, "auth_peers": "127.0.0.1"}
    async with api(tmp_path, settings) as at, at.http() as client:
        for path in ("/", "/sign-in"):
            reply = await client.get(path, headers={"X-Forwarded-User": "ann"})
            assert reply.text == "the page"
        if auth == "proxy":
            assert (await client.get("/")).status_code == 401


async def test_a_program_with_a_key_gets_the_page_of_its_owner(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http(await at.keys.add("ann")) as client:
        assert await page_of(client) == (200, "the page")
