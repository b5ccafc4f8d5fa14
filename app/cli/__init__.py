"""The command line: `inferscale <command>`. Every command imports only what it needs."""

from app.cli.root import app, main

__all__ = ["app", "main"]
