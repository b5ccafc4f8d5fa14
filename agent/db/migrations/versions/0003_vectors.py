"""Vectors of facts

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "fact_vectors",
        sa.Column("fact_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("part IN ('text', 'source')", name=op.f("ck_fact_vectors_part")),
        sa.ForeignKeyConstraint(
            ["fact_id"],
            ["facts.id"],
            name=op.f("fk_fact_vectors_fact_id_facts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("fact_id", "part", name=op.f("pk_fact_vectors")),
    )


def downgrade() -> None:
    op.drop_table("fact_vectors")
