"""Keys for programs, and their own names for conversations and turns

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("conversations", sa.Column("client_id", sa.String(), nullable=True))
    op.create_index(
        op.f("uq_conversations_owner_client_id"),
        "conversations",
        ["owner", "client_id"],
        unique=True,
    )
    op.add_column("turns", sa.Column("key", sa.String(), nullable=True))
    op.create_index(op.f("uq_turns_key"), "turns", ["key"], unique=True)
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_keys_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_api_keys_owner"), "api_keys", ["owner"])


def downgrade() -> None:
    op.drop_index(op.f("ix_api_keys_owner"), table_name="api_keys")
    op.drop_table("api_keys")
    op.drop_index(op.f("uq_turns_key"), table_name="turns")
    op.drop_column("turns", "key")
    op.drop_index(op.f("uq_conversations_owner_client_id"), table_name="conversations")
    op.drop_column("conversations", "client_id")
