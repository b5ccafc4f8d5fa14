"""`/docs`: the OpenAPI document as a page of its own, that fetches nothing from elsewhere."""

from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
  color-scheme: light dark }}
code {{ font-size: 0.95em }} td {{ padding: 0.1rem 1rem 0.1rem 0; vertical-align: top }}
</style>
<h1>{title}</h1>
<p>{about} For programs: <a href="openapi.json">openapi.json</a>.</p>
{operations}
</html>
"""


def add_docs(app: FastAPI) -> None:
    """Serve the page at `/docs`."""

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page_of(app.openapi()))


def page_of(document: dict[str, Any]) -> str:
    """The page for an OpenAPI document."""
    parts = [
        _operation(method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    info = document["info"]
    title, about = escape(f"{info['title']} {info['version']}"), escape(info["description"])
    return PAGE.format(title=title, about=about, operations="\n".join(parts))


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = [
        (p["name"], f"{p['in']}{', required' if p.get('required') else ''}")
        for p in operation.get("parameters", [])
    ]
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if name := str(schema.get("schema", {}).get("$ref", "")).rpartition("/")[2]:
        rows.append(("body", f"{name}, see openapi.json"))
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(what)}</td></tr>"
        for name, what in rows
    )
    about = escape(operation.get("description", ""))
    heading = f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
    return f"{heading}<p>{about}</p><table>{cells}</table>"
