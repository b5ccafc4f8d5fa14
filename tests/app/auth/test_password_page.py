"""Changing one's own password: who may, what is told of a mistake, and who is signed out."""

from pathlib import Path

import httpx2
import pytest
from sqlalchemy import text

from app.auth.passwords import LONGEST, SHORTEST
from app.auth.sign_in import COOKIE
from tests.app.api.api_server import api
from tests.app.auth.test_sign_in_page import ACCOUNTS, KEYS, PASSWORD, page_of, sign_in, with_ann

NEW = "another long secret"
NOT_CURRENT = "This is not your current password."


async def change(
    client: httpx2.AsyncClient, current: str = PASSWORD, new: str = NEW, again: str | None = None
) -> httpx2.Response:
    typed = {"current": current, "new": new, "again": new if again is None else again}
    return await client.post("/password", data=typed)


async def test_who_changes_a_password_stays_signed_in_here_and_nowhere_else(
    tmp_path: Path,
) -> None:
    async with with_ann(tmp_path) as at, at.http() as here, at.http() as there, at.http() as bobs:
        await at.accounts.add("bob", PASSWORD)
        for client, name in ((here, "ann"), (there, "ann"), (bobs, "bob")):
            await sign_in(client, name)
        before = here.cookies[COOKIE]
        reply = await change(here)
        assert reply.status_code == 200
        assert "Your password is changed" in reply.text
        assert here.cookies[COOKIE] != before
        cookie = reply.headers["set-cookie"].lower()
        assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.split("; "))
        assert await page_of(here) == (200, "the page")
        assert await page_of(bobs) == (200, "the page")
        assert await page_of(there) == (303, "/sign-in")
        there.cookies.set(COOKIE, before, domain="127.0.0.1")
        assert await page_of(there) == (303, "/sign-in")
        assert (await sign_in(there)).status_code == 401
        assert (await sign_in(there, secret=NEW)).status_code == 303
        assert (await sign_in(bobs, "bob")).status_code == 303


@pytest.mark.parametrize(
    ("current", "new", "again", "field", "problem"),
    [
        ("wrong", NEW, NEW, "current", NOT_CURRENT),
        ("", NEW, NEW, "current", NOT_CURRENT),
        ("x" * 5000, NEW, NEW, "current", NOT_CURRENT),
        (PASSWORD, "x" * (SHORTEST - 1), "x" * (SHORTEST - 1), "new", "this one has 11"),
        (PASSWORD, "x" * (LONGEST + 1), "x" * (LONGEST + 1), "new", "this one has 1001"),
        (PASSWORD, NEW, NEW.upper(), "again", "This is not the new password above."),
        (PASSWORD, NEW, "", "again", "This is not the new password above."),
    ],
)
async def test_a_mistake_is_told_at_its_field_and_changes_nothing(
    tmp_path: Path, current: str, new: str, again: str, field: str, problem: str
) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await sign_in(client)
        reply = await change(client, current, new, again)
        assert reply.status_code == 422
        before, told = reply.text.split('<p id="problem" role="alert">')
        assert problem in told.partition("</p>")[0]
        assert f'id="{field}"' in before.rpartition("<input")[2]
        assert before.count("aria-invalid") == 1
        for typed in filter(None, (current, new, again)):
            assert typed not in reply.text
        assert await page_of(client) == (200, "the page")
        assert (await sign_in(client)).status_code == 303


async def test_without_being_signed_in_there_is_no_form_and_nothing_changes(
    tmp_path: Path,
) -> None:
    async with with_ann(tmp_path) as at, at.http() as nobody, at.http() as ended:
        await sign_in(ended)
        token = ended.cookies[COOKIE]
        await ended.post("/sign-out")
        ended.cookies.set(COOKIE, token, domain="127.0.0.1")
        async with at.http(await at.keys.add("ann")) as program:
            for client in (nobody, ended, program):
                for reply in (await client.get("/password"), await change(client)):
                    assert reply.status_code == 303
                    assert reply.headers["location"] == "/sign-in"
        assert (await sign_in(nobody)).status_code == 303


async def test_the_form_is_kept_by_no_browser_and_runs_no_script(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await sign_in(client)
        asked = await client.get("/password")
        assert "<strong>ann</strong>" in asked.text
        for reply in (asked, await change(client, "wrong"), await change(client)):
            assert reply.headers["cache-control"] == "no-store"
            assert "default-src 'none'" in reply.headers["content-security-policy"]
            assert "<script" not in reply.text


async def test_wrong_passwords_count_as_tries_to_sign_in(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client, at.http() as other:
        await sign_in(client)
        for _ in range(9):
            assert (await change(client, "wrong")).status_code == 422
        assert (await sign_in(other, secret="wrong")).status_code == 401
        late = await change(client)
        assert late.status_code == 429
        assert int(late.headers["retry-after"]) == 900
        assert "too many failed tries" in late.text
        assert (await sign_in(other)).status_code == 429


async def test_a_database_that_cannot_be_used_is_told_on_the_form(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as at, at.http() as client:
        await sign_in(client)
        async with at.parts.database.write() as session:
            await session.execute(text("DROP TABLE accounts"))
        reply = await change(client)
        assert reply.status_code == 503
        assert "The database cannot be used." in reply.text
        assert 'action="/password"' in reply.text


async def test_where_nobody_has_a_password_there_is_none_to_change(tmp_path: Path) -> None:
    async with api(tmp_path, KEYS) as at, at.http() as client:
        await sign_in(client, "", await at.keys.add("ann"))
        assert (await client.get("/password")).status_code == 404
        assert (await change(client)).status_code == 404


async def test_a_session_of_a_key_changes_no_password(tmp_path: Path) -> None:
    async with api(tmp_path, KEYS) as at, at.http() as client:
        await sign_in(client, "", await at.keys.add("ann"))
        token = client.cookies[COOKIE]
    async with api(tmp_path, ACCOUNTS) as at, at.http() as client:
        await at.accounts.add("ann", PASSWORD)
        client.cookies.set(COOKIE, token, domain="127.0.0.1")
        assert (await change(client)).headers["location"] == "/sign-in"
