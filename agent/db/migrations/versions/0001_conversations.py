"""Users, conversations and turns

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_users()
    _create_conversations()
    _create_turns()


def downgrade() -> None:
    op.drop_index("ix_turns_pending", table_name="turns")

    op.drop_table("turns")
    op.drop_index(op.f("ix_conversations_owner"), table_name="conversations")

    op.drop_table("conversations")
    op.drop_table("users")


def _create_users() -> None:
    op.create_table(
        "users",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("facts_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_users")),
    )


def _create_conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner"], ["users.name"], name=op.f("fk_conversations_owner_users")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_conversations_owner"), "conversations", ["owner"], unique=False)


def _create_turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("conversation_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("remember", sa.String(), nullable=True),
        sa.Column("remember_attempts", sa.Integer(), nullable=False),
        sa.Column("remember_error", sa.String(), nullable=True),
        sa.Column("remembered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "remember IN ('pending', 'done', 'failed', 'off')",
            name=op.f("ck_turns_remember"),
        ),
        sa.CheckConstraint(
            "role = 'user' OR remember IS NULL",
            name=op.f("ck_turns_remember_user_only"),
        ),
        sa.CheckConstraint("role IN ('user', 'assistant')", name=op.f("ck_turns_role")),
        sa.CheckConstraint(
            "status IN ('complete', 'stopped', 'failed')", name=op.f("ck_turns_status")
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_turns_conversation_id_conversations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        sa.UniqueConstraint(
            "conversation_id",
            "position",
            name=op.f("uq_turns_conversation_id_position"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_turns_pending",
        "turns",
        ["id"],
        unique=False,
        sqlite_where=sa.text("remember IN ('pending', 'failed')"),
        postgresql_where=sa.text("remember IN ('pending', 'failed')"),
    )
