"""The commands, in the order in which a new user meets them."""

import typer

from app.cli import (
    accounts,
    backup,
    bench,
    engine,
    evaluate,
    exchange,
    facts,
    forgetting,
    keys,
    measure,
    plan,
    replies,
    serving,
    settings_table,
    upkeep,
)

app = typer.Typer(
    name="inferscale",
    help="A personal assistant whose memories are injected into vLLM's KV cache.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(serving.serve)
app.command()(replies.ask)
app.command()(replies.compare)
app.command()(measure.demo)
app.add_typer(facts.facts, name="facts")
facts.facts.command()(forgetting.forget)
facts.facts.command()(forgetting.audit)
facts.facts.command()(exchange.export)
facts.facts.command("import")(exchange.import_)
app.add_typer(accounts.accounts, name="accounts")
app.add_typer(keys.keys, name="keys")
app.command()(engine.engine)
app.command()(upkeep.doctor)
app.command()(upkeep.migrate)
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(bench.bench)
app.add_typer(evaluate.evaluate, name="eval")
app.command()(plan.plan)
app.command()(settings_table.settings)


def main() -> None:
    """The console command `inferscale`."""
    app()
