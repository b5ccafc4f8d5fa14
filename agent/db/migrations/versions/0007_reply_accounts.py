"""The account of a reply stays with its turn

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("account", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("turns", "account")
