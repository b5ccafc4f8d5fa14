"""All commands with their arguments and options, as Markdown, from Typer's own description."""

import re

import typer
from typer.cli import get_docs_for_click
from typer.main import get_group

from inferscale.commands import app

# Repeated in every command, or cut off by Typer.
_LEFT_OUT = (
    re.compile(r"^\* `--help`: .*\n", re.MULTILINE),
    re.compile(r"^\*\*Options\*\*:\n\n(?!\*)", re.MULTILINE),
    re.compile(r"^\*\*Commands\*\*:\n\n(?:\* .*\n)+\n?", re.MULTILINE),
)


def as_markdown() -> str:
    """A heading a command, with its usage, arguments and options."""
    group = get_group(app)
    context = typer.Context(group, info_name="inferscale")
    parts = [
        get_docs_for_click(obj=command, ctx=context, name=name, call_prefix="inferscale", indent=1)
        for name, command in group.commands.items()
    ]
    text = "".join(parts)
    for pattern in _LEFT_OUT:
        text = pattern.sub("", text)
    return re.sub(r"\n{3,}", "\n\n", text).replace("```console\n$ ", "```\n")


def command_names() -> list[str]:
    """Every command as it is typed, `facts add` for one of a group; groups are names too."""
    group = get_group(app)
    names = list(group.commands)
    for name, command in group.commands.items():
        names += [f"{name} {each}" for each in getattr(command, "commands", ())]
    return names
