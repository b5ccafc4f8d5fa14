"""All commands, in the order in which a new user meets them."""

import typer

from inferscale import settings_table
from inferscale.measure import (
    bench_command,
    demo_command,
    eval_commands,
    plan_command,
)
from inferscale.memory import (
    fact_commands,
    forget_commands,
    reply_commands,
    transfer_commands,
)
from inferscale.serve import (
    account_commands,
    backup_commands,
    engine_command,
    graph_command,
    health_commands,
    key_commands,
    serve_command,
)

app = typer.Typer(
    name="inferscale",
    help="A personal assistant whose memories are injected into vLLM's KV cache.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(serve_command.serve)
app.command()(reply_commands.ask)
app.command()(reply_commands.compare)
app.command()(demo_command.demo)
app.add_typer(fact_commands.facts, name="facts")
fact_commands.facts.command()(forget_commands.forget)
fact_commands.facts.command()(forget_commands.audit)
fact_commands.facts.command()(transfer_commands.export)
fact_commands.facts.command("import")(transfer_commands.import_)
app.add_typer(account_commands.accounts, name="accounts")
app.add_typer(key_commands.keys, name="keys")
app.command()(engine_command.engine)
app.command()(health_commands.doctor)
app.command()(health_commands.migrate)
app.command()(backup_commands.backup)
app.command()(backup_commands.restore)
app.command()(bench_command.bench)
app.add_typer(eval_commands.evaluate, name="eval")
app.command()(plan_command.plan)
app.command()(settings_table.settings)
app.command()(graph_command.graph)


def main() -> None:
    """The console command `inferscale`."""
    app()
