"""Alembic's entry: runs the steps on the connection that `store.upgrade` hands over."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=None,
    transaction_per_migration=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
