"""Facts and their events

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_facts()
    _create_fact_events()


def downgrade() -> None:
    op.drop_index(op.f("ix_fact_events_fact_id"), table_name="fact_events")

    op.drop_table("fact_events")
    op.drop_index("uq_facts_active_text", table_name="facts")
    op.drop_index("uq_facts_active_attribute", table_name="facts")
    op.drop_index(op.f("ix_facts_source_turn_id"), table_name="facts")
    op.drop_index(op.f("ix_facts_owner"), table_name="facts")

    op.drop_table("facts")


def _create_facts() -> None:
    op.create_table(
        "facts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=True),
        sa.Column("same_as", sa.String(), nullable=True),
        sa.Column("attribute", sa.String(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("dated", sa.Date(), nullable=True),
        sa.Column("time_expression", sa.String(), nullable=True),
        sa.Column("source_turn_id", sa.Integer(), nullable=True),
        sa.Column("superseded_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("forgotten_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('stable', 'event', 'plan')", name=op.f("ck_facts_kind")),
        sa.CheckConstraint(
            "(forgotten_at IS NULL) = (same_as IS NOT NULL)",
            name=op.f("ck_facts_same_as"),
        ),
        sa.CheckConstraint(
            "(forgotten_at IS NULL) = (text IS NOT NULL)", name=op.f("ck_facts_text")
        ),
        sa.CheckConstraint(
            "forgotten_at IS NULL OR attribute IS NULL", name=op.f("ck_facts_attribute")
        ),
        sa.CheckConstraint(
            "forgotten_at IS NULL OR ended_at IS NOT NULL",
            name=op.f("ck_facts_forgotten"),
        ),
        sa.CheckConstraint(
            "superseded_by IS NULL OR ended_at IS NOT NULL",
            name=op.f("ck_facts_superseded"),
        ),
        sa.ForeignKeyConstraint(["owner"], ["users.name"], name=op.f("fk_facts_owner_users")),
        sa.ForeignKeyConstraint(
            ["source_turn_id"], ["turns.id"], name=op.f("fk_facts_source_turn_id_turns")
        ),
        sa.ForeignKeyConstraint(
            ["superseded_by"], ["facts.id"], name=op.f("fk_facts_superseded_by_facts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_facts")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_facts_owner"), "facts", ["owner"], unique=False)
    op.create_index(op.f("ix_facts_source_turn_id"), "facts", ["source_turn_id"], unique=False)
    op.create_index(
        "uq_facts_active_attribute",
        "facts",
        ["owner", "attribute"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index(
        "uq_facts_active_text",
        "facts",
        ["owner", "same_as"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def _create_fact_events() -> None:
    op.create_table(
        "fact_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("fact_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "kind IN ('added', 'superseded', 'forgotten')",
            name=op.f("ck_fact_events_kind"),
        ),
        sa.ForeignKeyConstraint(
            ["fact_id"], ["facts.id"], name=op.f("fk_fact_events_fact_id_facts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fact_events")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_fact_events_fact_id"), "fact_events", ["fact_id"], unique=False)
