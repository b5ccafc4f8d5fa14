"""Calls of `inferscale facts`, and facts taught with them."""

import json
from typing import Any

from typer.testing import CliRunner, Result

from inferscale.commands import app


def facts(*arguments: str, user: str = "ann") -> Result:
    """Run `inferscale facts` for a user."""
    return CliRunner().invoke(app, ["facts", *arguments, "--user", user])


def json_of(*arguments: str, user: str = "ann") -> Any:
    result = facts(*arguments, "--json", user=user)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def teach(*texts: str, user: str = "ann") -> None:
    assert facts("add", *texts, user=user).exit_code == 0


def known(user: str = "ann") -> list[str]:
    return [fact["text"] for fact in json_of("list", user=user)]
