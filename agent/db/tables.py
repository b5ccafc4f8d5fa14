"""Tables of the database. Rows are added; text is never overwritten.

users              who owns what; `facts_version` changes with every change of their facts
  conversations    a title and an order
    turns          what was said, exactly; a user's turn also says whether it was remembered,
                   a reply how it came about
  facts            what is known; an ended fact has an event that says why it ended
    fact_sources   the turns that said it; null is by hand
    fact_events    what happened to a fact, and when; holds no text
    fact_vectors   a cache: what the embedding model made of a fact and of its source turn
api_keys           who may sign in, and as whom
"""

from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    Index,
    MetaData,
    UniqueConstraint,
    text,
    true,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from agent.db.utc import UTCDateTime, utc_now

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """Base of all tables: names of constraints, and UTC instants."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UTCDateTime}  # noqa: RUF012


class UserRow(Base):
    """A user. `facts_version` is raised by every change of the user's facts."""

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(primary_key=True)
    facts_version: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ConversationRow(Base):
    """A conversation. Without `memory` nothing is recalled in it and nothing remembered.

    `client_id` is the name that a program gave it, one user's programs all together.
    """

    __tablename__ = "conversations"
    __table_args__ = (
        Index("uq_conversations_owner_client_id", "owner", "client_id", unique=True),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(ForeignKey("users.name"), index=True)
    title: Mapped[str | None]
    client_id: Mapped[str | None]
    memory: Mapped[bool] = mapped_column(default=True, server_default=true())
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class TurnRow(Base):
    """A turn. `remember` is null for the assistant's turns, which are never remembered.

    `key` is a digest of a program's message and all before it, by which it is known again.
    `trace` (the column `account`) says how a whole reply came about, in numbers and ids: it
    holds no text.
    """

    __tablename__ = "turns"
    __table_args__ = (
        UniqueConstraint("conversation_id", "position"),
        CheckConstraint("role IN ('user', 'assistant')", name="role"),
        CheckConstraint("status IN ('complete', 'stopped', 'failed')", name="status"),
        CheckConstraint("remember IN ('pending', 'done', 'failed', 'off')", name="remember"),
        CheckConstraint("role = 'user' OR remember IS NULL", name="remember_user_only"),
        Index(
            "ix_turns_pending",
            "id",
            sqlite_where=text("remember IN ('pending', 'failed')"),
            postgresql_where=text("remember IN ('pending', 'failed')"),
        ),
        Index("uq_turns_key", "key", unique=True),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id"))
    position: Mapped[int]
    role: Mapped[str]
    status: Mapped[str] = mapped_column(default="complete")
    text: Mapped[str]
    remember: Mapped[str | None]
    remember_attempts: Mapped[int] = mapped_column(default=0)
    remember_error: Mapped[str | None]
    remembered_at: Mapped[datetime | None]
    key: Mapped[str | None]
    trace: Mapped[dict[str, Any] | None] = mapped_column("account", JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


ACTIVE = text("ended_at IS NULL")


class FactRow(Base):
    """A fact. `same_as` is a digest of the normalised text: no two active facts of a scope
    share it.

    It holds from `valid_from` until `valid_to`, null for not known and for no end; `ended_at`
    is when that became known. `subject` is whom it is about, empty for the user. `scope` names
    `agent` and `conversation_id` for the indexes, to which nulls would all be different.

    `denied_attribute` is the attribute that the fact says does not have `denied_value`: empty for
    none, null in rows that code from before revision 0008 wrote.

    A forgotten fact keeps its row and its source turns, so that they are not remembered
    again, and loses everything that tells what it said.
    """

    __tablename__ = "facts"
    __table_args__ = (
        CheckConstraint("kind IN ('stable', 'event', 'plan', 'transient')", name="kind"),
        CheckConstraint("(forgotten_at IS NULL) = (text IS NOT NULL)", name="text"),
        CheckConstraint("(forgotten_at IS NULL) = (same_as IS NOT NULL)", name="same_as"),
        CheckConstraint("forgotten_at IS NULL OR attribute IS NULL", name="attribute"),
        CheckConstraint("forgotten_at IS NULL OR ended_at IS NOT NULL", name="forgotten"),
        CheckConstraint("superseded_by IS NULL OR ended_at IS NOT NULL", name="superseded"),
        Index(
            "uq_facts_active_text",
            "owner",
            "scope",
            "same_as",
            unique=True,
            sqlite_where=ACTIVE,
            postgresql_where=ACTIVE,
        ),
        Index(
            "uq_facts_active_attribute",
            "owner",
            "scope",
            "subject",
            "attribute",
            unique=True,
            sqlite_where=ACTIVE,
            postgresql_where=ACTIVE,
        ),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(ForeignKey("users.name"), index=True)
    text: Mapped[str | None]
    same_as: Mapped[str | None]
    subject: Mapped[str] = mapped_column(default="", server_default="")
    attribute: Mapped[str | None]
    denied_attribute: Mapped[str | None]
    denied_value: Mapped[str | None]
    kind: Mapped[str] = mapped_column(default="stable")
    dated: Mapped[date | None]
    time_expression: Mapped[str | None]
    source_turn_id: Mapped[int | None] = mapped_column(ForeignKey("turns.id"), index=True)
    agent: Mapped[str | None]
    conversation_id: Mapped[int | None] = mapped_column(ForeignKey("conversations.id"), index=True)
    scope: Mapped[str] = mapped_column(default="", server_default="")
    superseded_by: Mapped[int | None] = mapped_column(ForeignKey("facts.id"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    valid_from: Mapped[datetime | None]
    valid_to: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    forgotten_at: Mapped[datetime | None]


class FactSourceRow(Base):
    """A source of a fact: a turn that says it, or null for by hand."""

    __tablename__ = "fact_sources"
    __table_args__ = (
        UniqueConstraint("fact_id", "turn_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    fact_id: Mapped[int] = mapped_column(ForeignKey("facts.id"))
    turn_id: Mapped[int | None] = mapped_column(ForeignKey("turns.id"), index=True)


class FactEventRow(Base):
    """An event of a fact. `by_fact_id` is the fact that took its place."""

    __tablename__ = "fact_events"
    __table_args__ = (
        CheckConstraint(
            "kind IN ('added', 'updated', 'superseded', 'retracted', 'expired', 'undone', "
            "'restored', 'forgotten')",
            name="kind",
        ),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    fact_id: Mapped[int] = mapped_column(ForeignKey("facts.id"), index=True)
    kind: Mapped[str]
    by_fact_id: Mapped[int | None] = mapped_column(ForeignKey("facts.id"))
    at: Mapped[datetime] = mapped_column(default=utc_now)


class FactVectorRow(Base):
    """A unit vector of a fact: float32, little-endian. `model` names the weights that made it."""

    __tablename__ = "fact_vectors"
    __table_args__ = (CheckConstraint("part IN ('text', 'source')", name="part"),)

    fact_id: Mapped[int] = mapped_column(
        ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True
    )
    part: Mapped[str] = mapped_column(primary_key=True)
    model: Mapped[str]
    dimension: Mapped[int]
    vector: Mapped[bytes]


class ApiKeyRow(Base):
    """A key for programs. `digest` is the SHA-256 of it: the key itself is nowhere."""

    __tablename__ = "api_keys"
    __table_args__ = (UniqueConstraint("digest"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    name: Mapped[str] = mapped_column(default="")
    digest: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    revoked_at: Mapped[datetime | None]


class AccountRow(Base):
    """A login by password. `password` is its Argon2id hash, with salt and parameters."""

    __tablename__ = "accounts"

    name: Mapped[str] = mapped_column(primary_key=True)
    password: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    changed_at: Mapped[datetime] = mapped_column(default=utc_now)


class SessionRow(Base):
    """A browser that is signed in: with a password, or with the key `key_id`.

    `digest` is the SHA-256 of the token in its cookie: the token itself is nowhere.
    """

    __tablename__ = "sessions"
    __table_args__ = (UniqueConstraint("digest"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    key_id: Mapped[int | None] = mapped_column(ForeignKey("api_keys.id"))
    digest: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime] = mapped_column(index=True)
