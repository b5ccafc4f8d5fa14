"""Denied attribute and value of a fact

Rows from before stay null: a sentence of any language is no matter for a migration. The code
reads them as it did before (`agent.facts.fact_rows.denial_of`).

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("facts", sa.Column("denied_attribute", sa.String(), nullable=True))
    op.add_column("facts", sa.Column("denied_value", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("facts", "denied_value")
    op.drop_column("facts", "denied_attribute")
