"""Writer of the figures and plots of docs/evaluation.md, from reports of `inferscale eval`.

python -m scripts.figures.quality_figures
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from inferscale.measure.eval_tables import (
    Report,
    answers_tables,
    end_to_end_tables,
    extraction_tables,
    fidelity_tables,
    retrieval_tables,
    source,
)
from inferscale.output import ReportTable
from scripts.figures.quality_plots import draw
from scripts.readme import ROOT

PAGE = ROOT / "docs" / "evaluation.md"
REPORTS = ROOT / "docs" / "benchmarks"
TO_COME = "Not measured yet.\n"
TABLES: dict[str, Callable[[Report], list[ReportTable]]] = {
    "fidelity": fidelity_tables,
    "answers": answers_tables,
    "end-to-end": end_to_end_tables,
    "retrieval": retrieval_tables,
    "extraction": extraction_tables,
}

PLOTTED = {
    "fidelity": "What KV retains, and how its likeliest tokens agree with text's",
    "answers": "Token F1 of the arms, by category",
    "end-to-end": "Token F1 without facts, with facts as text, and as KV",
    "retrieval": "Evidence among the first facts, by what finds them",
    "extraction": "Statements found, and why others were not",
}


def rendered(page: str, folder: Path) -> str:
    """Fill the page with the figures of all reports `eval-<part>*.json` in `folder`."""
    for part in TABLES:
        page = _filled(page, part, "\n".join(_block(part, folder)) or TO_COME)
    return page


def reports(part: str, folder: Path) -> list[Path]:
    """Find the reports of one part, by name."""
    return sorted(folder.glob(f"eval-{part}*.json"))


def _filled(page: str, part: str, block: str) -> str:
    marked = re.compile(rf"(?<=<!-- {part} -->\n).*(?=<!-- end of {part} -->)", re.DOTALL)
    return marked.sub(lambda _: block, page)


def _block(part: str, folder: Path) -> Iterator[str]:
    for path in reports(part, folder):
        report = json.loads(path.read_text(encoding="utf-8"))
        yield f"{source(report)} ([report](benchmarks/{path.name})).\n"
        for title, columns, rows in TABLES[part](report):
            yield f"**{title}**\n"
            yield f"| {' | '.join(columns)} |"
            yield f"| {' | '.join('---' for _ in columns)} |"
            for row in rows:
                yield f"| {' | '.join(map(str, row))} |"
            yield ""
        yield f"![{PLOTTED[part]}](benchmarks/{path.stem}.png)\n"


def main() -> None:
    """Write the page and the plots."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(rendered(text, REPORTS), encoding="utf-8")
    for part in TABLES:
        for path in reports(part, REPORTS):
            plot = path.with_suffix(".png")
            draw(part, json.loads(path.read_text(encoding="utf-8")), plot)
            print(plot)


if __name__ == "__main__":
    main()
