"""Passwords: their rules, hashing and comparison."""

import asyncio
import secrets
import unicodedata
from base64 import b64encode

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from memory_engine.errors import UserError

SHORTEST, LONGEST = 12, 1000
AT_ONCE = 2  # each takes a core and 64 MiB for a moment


class Passwords:
    """Argon2id (RFC 9106) with the library's parameters, in threads, few at once."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._nobodys = _hash_of_nothing(self._hasher)

    async def hash(self, password: str) -> str:
        """The hash to store. Raises UserError for a password that is too short or too long."""
        check_password(password)
        return await self._hashed(password)

    async def fits(self, stored: str | None, password: str) -> bool:
        """Whether `stored` is the hash of `password`; takes as long where there is none."""
        if len(password) > LONGEST:
            password = ""  # nobody's, and no work for the hash function
        async with self._slots:
            right = await asyncio.to_thread(self._verify, stored or self._nobodys, password)
        return right and stored is not None

    async def renewed(self, stored: str, password: str) -> str:
        """The same hash, or another one where `stored` was made with other parameters."""
        outdated = self._hasher.check_needs_rehash(stored)
        return await self._hashed(password) if outdated else stored

    async def _hashed(self, password: str) -> str:
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, _bytes(password))

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, _bytes(password))
        except (VerificationError, InvalidHashError):
            return False


def check_password(password: str) -> None:
    """Raise UserError for a password that is too short or too long to be set."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UserError(
            f"A password has {SHORTEST} to {LONGEST} characters; this one has {len(password)}."
        )


def _bytes(password: str) -> bytes:
    # As RFC 8265 has it: the same letters are the same, however a keyboard composes them.
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


def _hash_of_nothing(hasher: PasswordHasher) -> str:
    """A hash in Argon2's form that is of no password, with the parameters of `hasher`."""
    salt, digest = (
        b64encode(secrets.token_bytes(length)).rstrip(b"=").decode()
        for length in (hasher.salt_len, hasher.hash_len)
    )
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"
