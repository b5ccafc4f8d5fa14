"""Accounts: made, changed and removed, and how their passwords are kept."""

import asyncio
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest
from argon2 import PasswordHasher
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.db.tables import AccountRow
from app.auth.accounts import Accounts, users_of
from app.auth.browser_sessions import BrowserSessions
from app.auth.passwords import LONGEST, SHORTEST, Passwords
from memory_engine.errors import NotFoundError, UserError
from tests.agent.agent_builder import Parts, opened, url_of
from tests.app.api.api_server import CHEAP

PASSWORD = "correct horse battery"


def accounts_of(parts: Parts, hasher: PasswordHasher = CHEAP) -> Accounts:
    return Accounts(parts.database, Passwords(hasher))


async def stored(parts: Parts, name: str) -> str:
    async with parts.database.read() as session:
        row = await session.get(AccountRow, name)
    assert row is not None
    return row.password


@pytest.mark.parametrize("length", [0, SHORTEST - 1, LONGEST + 1])
async def test_a_password_has_to_have_a_length(tmp_path: Path, length: int) -> None:
    async with opened(url_of(tmp_path)) as parts:
        with pytest.raises(UserError, match=f"{SHORTEST} to {LONGEST}"):
            await accounts_of(parts).add("ann", "x" * length)
        assert await accounts_of(parts).listed() == []


@settings(max_examples=40, deadline=None)
@given(
    typed=st.text(st.characters(), min_size=SHORTEST, max_size=40),
    other=st.text(st.characters(), max_size=40),
)
def test_a_password_fits_its_own_hash_and_no_other_text_does(typed: str, other: str) -> None:
    async def fits() -> tuple[bool, bool]:
        passwords = Passwords(CHEAP)
        stored = await passwords.hash(typed)
        return await passwords.fits(stored, typed), await passwords.fits(stored, other)

    same = normalize("NFC", typed) == normalize("NFC", other)
    assert asyncio.run(fits()) == (True, same)


async def test_a_name_is_one_accounts_and_nobodys_below_another(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        accounts = accounts_of(parts)
        assert await accounts.add(" ann ", PASSWORD) == "ann"
        for taken in ("ann", "ann/bob", " "):
            with pytest.raises(UserError):
                await accounts.add(taken, PASSWORD)
        await accounts.add("bob", PASSWORD)
        assert [account.name for account in await accounts.listed()] == ["ann", "bob"]
        assert PASSWORD not in repr(await accounts.listed())
        for change in (accounts.set_password("eve", PASSWORD), accounts.remove("eve")):
            with pytest.raises(NotFoundError, match="eve"):
                await change


async def test_hashes_are_argon2id_salted_and_made_anew_when_parameters_change(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        sessions = BrowserSessions(parts.database, 1)
        for name in ("ann", "bob"):
            await accounts_of(parts).add(name, PASSWORD)
        before, bobs = await stored(parts, "ann"), await stored(parts, "bob")
        assert before.startswith("$argon2id$")
        assert before != bobs
        dearer = accounts_of(parts, PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
        assert await dearer.sign_in("ann", "wrong", sessions) is None
        assert await stored(parts, "ann") == before
        assert await dearer.sign_in("ann", PASSWORD, sessions)
        assert "m=16,t=2" in await stored(parts, "ann")
        assert await dearer.sign_in("ann", PASSWORD, sessions)


async def test_a_password_that_changes_while_it_is_compared_opens_nothing(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        sessions = BrowserSessions(parts.database, 1)
        accounts = accounts_of(parts)
        await accounts.add("ann", PASSWORD)

        class Slow(Passwords):
            async def fits(self, stored: str | None, password: str) -> bool:
                right = await super().fits(stored, password)
                await accounts.set_password("ann", "another long secret")
                return right

        slow = Accounts(parts.database, Slow(CHEAP))
        assert await slow.sign_in("ann", PASSWORD, sessions) is None
        await accounts.set_password("ann", PASSWORD)
        assert await slow.change_password("ann", PASSWORD, "a third long secret", sessions) is None
        assert await accounts.sign_in("ann", "another long secret", sessions)


async def test_of_two_changes_of_a_password_at_once_one_is_made(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        sessions = BrowserSessions(parts.database, 1)
        accounts = accounts_of(parts)
        await accounts.add("ann", PASSWORD)
        wanted = [f"another long secret {n}" for n in range(4)]
        changed = await asyncio.gather(
            *(accounts.change_password("ann", PASSWORD, new, sessions) for new in wanted)
        )
        (token,) = filter(None, changed)
        assert await sessions.owner_of(token, by_key=False) == "ann"
        let_in = [await accounts.sign_in("ann", each, sessions) for each in (PASSWORD, *wanted)]
        assert [bool(each) for each in let_in] == [False, *map(bool, changed)]


async def test_an_account_that_is_removed_while_its_password_changes_stays_removed(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        sessions = BrowserSessions(parts.database, 1)
        accounts = accounts_of(parts)
        await accounts.add("ann", PASSWORD)

        class Slow(Passwords):
            async def hash(self, password: str) -> str:
                await accounts.remove("ann")
                return await super().hash(password)

        slow = Accounts(parts.database, Slow(CHEAP))
        new = "another long secret"
        assert await slow.change_password("ann", PASSWORD, new, sessions) is None
        assert await accounts.listed() == []


class Counted(PasswordHasher):
    """Says what it was asked to compare with."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.compared: list[str] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.compared.append(str(hash))
        return super().verify(hash, password)


async def test_an_unknown_name_takes_the_same_work_as_a_wrong_password(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        hasher = Counted()
        accounts = accounts_of(parts, hasher)
        await accounts.add("ann", PASSWORD)
        for name in ("ann", "nobody"):
            assert await accounts.sign_in(name, "wrong", BrowserSessions(parts.database, 1)) is None
        anns, nobodys = hasher.compared
        assert anns.rpartition("$")[0].split("$")[:4] == nobodys.split("$")[:4]
        assert len(anns) == len(nobodys)


async def test_hashing_leaves_the_event_loop_free(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        adding = asyncio.create_task(Accounts(parts.database).add("ann", PASSWORD))
        turns = 0
        while not adding.done():
            turns += 1
            await asyncio.sleep(0.001)
    assert turns > 5


async def test_the_memory_of_an_account_is_its_own_and_that_of_its_programs_users(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        for user in ("ann", "ann/bob", "anna", "an%/x"):
            await parts.service.add_fact(user, "I ski.")
        assert await users_of(parts.database, "ann") == ["ann", "ann/bob"]
        assert await users_of(parts.database, "an%") == ["an%/x"]
