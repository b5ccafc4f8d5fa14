"""Command `inferscale settings`: every setting with its value, its limits and its purpose."""

from typing import Annotated

import typer

from app.settings import PREFIX, Settings, allowed_values, without_password
from inferscale.command import AsJson, run
from inferscale.output import say, say_json, table


def settings(
    markdown: Annotated[bool, typer.Option(help="Print the table of the README.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print all settings: environment variable, value, what is allowed, what it does."""

    async def work(values: Settings) -> None:
        if markdown:
            say(as_markdown())
        elif as_json:
            say_json({name: _shown(values, name) for name in Settings.model_fields})
        else:
            rows = [
                [PREFIX + name.upper(), _shown(values, name), field.description]
                for name, field in Settings.model_fields.items()
            ]
            say(table("Settings", ["variable", "value", "what it does"], rows))

    run(work)


def as_markdown() -> str:
    """Format the settings with their defaults as a Markdown table; the same on every machine."""
    lines = ["| variable | default | allowed | what it does |", "| --- | --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        default = f"`{field.default}`" if str(field.default) else ""
        lines.append(
            f"| `{PREFIX}{name.upper()}` | {default} | {allowed_values(field)} "
            f"| {field.description} |"
        )
    return "\n".join(lines)


def _shown(values: Settings, name: str) -> str | int:
    value = getattr(values, name)
    return value if isinstance(value, int) else without_password(str(value))
