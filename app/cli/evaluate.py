"""`inferscale eval`: what memory keeps of the answers, on LoCoMo."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from app.cli.command import AsJson, run
from app.cli.eval_tables import fidelity_tables
from app.cli.output import note, say, say_json
from app.settings import Settings
from memory_engine.errors import SettingsError

evaluate = typer.Typer(help="Measure what memory keeps of the answers.", no_args_is_help=True)

Data = Annotated[Path, Option("--data", help="LoCoMo's file, such as locomo10.json.")]
Wrong = Annotated[
    Path | None, Option(help="A JSON list of ids of questions whose gold answer is wrong.")
]
Limit = Annotated[int | None, Option(help="Questions, at random. [400 with a GPU, 12 without]")]
Seed = Annotated[int, Option(help="Of the choice of questions and of the bootstrap.")]
Ks = Annotated[str, Option("--k", help="Facts of a prompt, with commas.")]

# The first of each list is what the product does.
ABLATION = {
    "windows": "facts:8,none,facts:3,facts:16,facts:32",
    "orders": "time,relevance",
    "tails": "3,0,5",
}


@evaluate.command()
def fidelity(
    data: Data,
    limit: Limit = None,
    seed: Seed = 0,
    k: Ks = "20,50",
    wrong_gold: Wrong = None,
    windows: Annotated[str, Option(help="Kinds of windows to encode facts behind.")] = "facts:8",
    orders: Annotated[str, Option(help="Orders of facts: time, relevance.")] = "time",
    tails: Annotated[str, Option(help="Facts at the end as text.")] = "3",
    stores: Annotated[str, Option(help="How KV is stored: auto, fp8.")] = "auto",
    ablate: Annotated[
        bool, Option("--ablate", help="Vary windows, orders and tails, those not given.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Does injected KV answer as the same facts do as text? Likelihood of the gold answers.

    Lists have commas; the first of each is the base, and one thing is varied at a time.
    """
    lists = {"windows": windows, "orders": orders, "tails": tails}
    if ablate:
        lists = {
            name: ABLATION[name] if text in ("facts:8", "time", "3") else text
            for name, text in lists.items()
        }

    async def work(settings: Settings) -> None:
        from app.eval.fidelity import run_fidelity
        from app.eval.session import Asked
        from app.eval.setups import varied

        setups = varied(
            _numbers("--k", k),
            _words(lists["windows"]),
            _words(lists["orders"]),
            _numbers("--tails", lists["tails"]),
            _words(stores),
        )
        asked = Asked(data, wrong_gold, limit, seed)
        report = await run_fidelity(settings, asked, setups, note)
        _show(fidelity_tables(report), report, as_json=as_json)

    run(work)


def _show(tables: str, report: dict[str, Any], *, as_json: bool) -> None:
    (note if as_json else say)(tables)
    say_json(report)


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in _words(text)]
    except ValueError:
        raise SettingsError(
            f"{option} {text} cannot work: give whole numbers with commas, such as 20,50."
        ) from None
