"""Validity, sources, subjects and scopes of facts; conversations without memory

Revision ID: 0004
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels = None
depends_on = None

ACTIVE = sa.text("ended_at IS NULL")
FACT_KINDS = "kind IN ('stable', 'event', 'plan')"
FACT_KINDS_NOW = "kind IN ('stable', 'event', 'plan', 'transient')"
EVENT_KINDS = "kind IN ('added', 'superseded', 'forgotten')"
EVENT_KINDS_NOW = (
    "kind IN ('added', 'updated', 'superseded', 'retracted', 'expired', 'undone', "
    "'restored', 'forgotten')"
)
# SQLite rebuilds a table to change a constraint; ids must still never be used twice.
REBUILT = {"sqlite_autoincrement": True}


def upgrade() -> None:
    op.add_column(
        "conversations",
        sa.Column("memory", sa.Boolean(), server_default=sa.true(), nullable=False),
    )
    _drop_indexes()
    with op.batch_alter_table("facts", table_kwargs=REBUILT) as batch:
        for column in _fact_columns():
            batch.add_column(column)
        batch.create_foreign_key(
            op.f("fk_facts_conversation_id_conversations"),
            "conversations",
            ["conversation_id"],
            ["id"],
        )
        batch.drop_constraint(op.f("ck_facts_kind"), type_="check")
        batch.create_check_constraint(op.f("ck_facts_kind"), FACT_KINDS_NOW)
    op.create_index(op.f("ix_facts_conversation_id"), "facts", ["conversation_id"])
    _create_indexes(["scope", "same_as"], ["scope", "subject", "attribute"])
    _widen_events()
    _create_sources()
    op.execute(
        "UPDATE facts SET valid_from = created_at, valid_to = ended_at WHERE forgotten_at IS NULL"
    )


def downgrade() -> None:
    # What the older tables cannot tell apart may not come to hold for everybody.
    op.execute(
        "UPDATE facts SET ended_at = CURRENT_TIMESTAMP "
        "WHERE ended_at IS NULL AND (scope <> '' OR kind = 'transient')"
    )
    op.execute("UPDATE facts SET attribute = NULL WHERE subject <> ''")
    op.execute("UPDATE facts SET kind = 'stable' WHERE kind = 'transient'")
    op.execute("DELETE FROM fact_events WHERE kind IN ('undone', 'restored')")
    op.execute(
        "UPDATE fact_events SET kind = 'superseded' "
        "WHERE kind IN ('updated', 'retracted', 'expired')"
    )
    op.drop_index(op.f("ix_fact_sources_turn_id"), table_name="fact_sources")
    op.drop_table("fact_sources")
    with op.batch_alter_table("fact_events", table_kwargs=REBUILT) as batch:
        batch.drop_constraint(op.f("ck_fact_events_kind"), type_="check")
        batch.create_check_constraint(op.f("ck_fact_events_kind"), EVENT_KINDS)
        batch.drop_constraint(op.f("fk_fact_events_by_fact_id_facts"), type_="foreignkey")
        batch.drop_column("by_fact_id")
    _drop_indexes()
    op.drop_index(op.f("ix_facts_conversation_id"), table_name="facts")
    with op.batch_alter_table("facts", table_kwargs=REBUILT) as batch:
        batch.drop_constraint(op.f("ck_facts_kind"), type_="check")
        batch.create_check_constraint(op.f("ck_facts_kind"), FACT_KINDS)
        batch.drop_constraint(op.f("fk_facts_conversation_id_conversations"), type_="foreignkey")
        for column in _fact_columns():
            batch.drop_column(column.name)
    _create_indexes(["same_as"], ["attribute"])
    op.drop_column("conversations", "memory")


def _fact_columns() -> list[sa.Column[object]]:
    return [
        sa.Column("subject", sa.String(), server_default="", nullable=False),
        sa.Column("agent", sa.String(), nullable=True),
        sa.Column("conversation_id", sa.Integer(), nullable=True),
        sa.Column("scope", sa.String(), server_default="", nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=True),
        sa.Column("valid_to", sa.DateTime(timezone=True), nullable=True),
    ]


def _drop_indexes() -> None:
    for name in ("uq_facts_active_text", "uq_facts_active_attribute"):
        op.drop_index(name, table_name="facts")


def _create_indexes(text: list[str], attribute: list[str]) -> None:
    for name, columns in (("text", text), ("attribute", attribute)):
        op.create_index(
            f"uq_facts_active_{name}",
            "facts",
            ["owner", *columns],
            unique=True,
            sqlite_where=ACTIVE,
            postgresql_where=ACTIVE,
        )


def _widen_events() -> None:
    with op.batch_alter_table("fact_events", table_kwargs=REBUILT) as batch:
        batch.add_column(sa.Column("by_fact_id", sa.Integer(), nullable=True))
        batch.create_foreign_key(
            op.f("fk_fact_events_by_fact_id_facts"), "facts", ["by_fact_id"], ["id"]
        )
        batch.drop_constraint(op.f("ck_fact_events_kind"), type_="check")
        batch.create_check_constraint(op.f("ck_fact_events_kind"), EVENT_KINDS_NOW)
    op.execute(
        "UPDATE fact_events SET by_fact_id = (SELECT superseded_by FROM facts "
        "WHERE facts.id = fact_events.fact_id) WHERE kind = 'superseded'"
    )


def _create_sources() -> None:
    op.create_table(
        "fact_sources",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("fact_id", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["fact_id"], ["facts.id"], name=op.f("fk_fact_sources_fact_id_facts")
        ),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name=op.f("fk_fact_sources_turn_id_turns")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fact_sources")),
        sa.UniqueConstraint("fact_id", "turn_id", name=op.f("uq_fact_sources_fact_id_turn_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_fact_sources_turn_id"), "fact_sources", ["turn_id"])
    op.execute("INSERT INTO fact_sources (fact_id, turn_id) SELECT id, source_turn_id FROM facts")
