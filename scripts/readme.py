"""Brings the generated parts of README.md and docs/ up to date.

python -m scripts.readme
"""

from collections.abc import Callable, Mapping

from app.models import family_report
from app.settings import PREFIX
from inferscale import settings_table
from inferscale.serve.graph_command import Graph, as_mermaid
from scripts.pages import command_list, file_list, measured_figures
from scripts.pages.markdown_page import filled
from scripts.pages.source_tree import ROOT, source_files, summary

__all__ = ["PAGES", "README", "ROOT", "rendered", "source_files", "summary"]

README = ROOT / "README.md"
NEWCOMERS_SETTINGS = ("model", "data_dir", "database_url", "arena_mib", "host", "auth")


def rendered(name: str) -> str:
    """A page of PAGES with its generated parts as code and reports are now."""
    page = (ROOT / name).read_text(encoding="utf-8")
    return filled(page, {mark: block() for mark, block in PAGES[name].items()})


def main() -> None:
    """Write every page whose text changes."""
    for name in PAGES:
        page, text = ROOT / name, rendered(name)
        if page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
            print(f"{name} is brought up to date")


def _families() -> str:
    report = family_report.known()
    if report is None:
        raise FileNotFoundError(f"{family_report.KNOWN}: {family_report.COMMAND} makes it")
    return family_report.as_markdown(report)


def _few_settings() -> str:
    table = settings_table.as_markdown().splitlines()
    names = tuple(f"| `{PREFIX}{name.upper()}`" for name in NEWCOMERS_SETTINGS)
    return "\n".join([*table[:2], *(line for line in table if line.startswith(names))])


def _graph(name: Graph) -> Callable[[], str]:
    return lambda: f"```mermaid\n{as_mermaid(name)}```"


# The marks of each page, and what stands between them.
PAGES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "README.md": {
        "reply graph": _graph(Graph.REPLY),
        "remember graph": _graph(Graph.REMEMBER),
        "measured": measured_figures.readme_table,
        "settings": _few_settings,
    },
    "docs/commands.md": {"commands": command_list.as_markdown},
    "docs/settings.md": {"settings": settings_table.as_markdown},
    "docs/models.md": {"models": _families},
    "docs/files.md": {"files": file_list.as_markdown},
    "docs/performance.md": {"other machines": measured_figures.other_machines},
    "docs/evaluation.md": {
        "summary": measured_figures.quality_summary,
        "demo": measured_figures.demo,
    },
}


if __name__ == "__main__":
    main()
