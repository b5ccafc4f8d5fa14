"""`inferscale eval`: what memory keeps of the answers, on LoCoMo."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from app.settings import Settings
from inferscale.command import AsJson, run
from inferscale.measure.eval_tables import (
    Table,
    answers_tables,
    as_text,
    end_to_end_tables,
    extraction_tables,
    fidelity_tables,
    retrieval_tables,
)
from inferscale.output import note, say, say_json
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
DEFAULTS = {"windows": "facts:8", "orders": "time", "tails": "3"}
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
    windows: Annotated[
        str | None, Option(help="What facts are encoded behind: none, facts:N. [facts:8]")
    ] = None,
    orders: Annotated[str | None, Option(help="Of facts: time, relevance. [time]")] = None,
    tails: Annotated[str | None, Option(help="Facts at the end as text, at most. [3]")] = None,
    stores: Annotated[str, Option(help="How KV is stored: auto, fp8.")] = "auto",
    ablate: Annotated[
        bool, Option("--ablate", help="Vary windows, orders and tails, those not given.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Does injected KV answer as the same facts do as text? Likelihood of the gold answers.

    Lists have commas; the first of each is the base, and one thing is varied at a time.
    """
    given = {"windows": windows, "orders": orders, "tails": tails}
    otherwise = ABLATION if ablate else DEFAULTS
    lists = {name: otherwise[name] if text is None else text for name, text in given.items()}

    async def work(settings: Settings) -> None:
        from benchmarks.quality.arms.setups import varied
        from benchmarks.quality.eval_session import Asked
        from benchmarks.quality.fidelity import run_fidelity

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


@evaluate.command()
def answers(
    data: Data,
    limit: Limit = None,
    seed: Seed = 0,
    k: Ks = "20,50",
    wrong_gold: Wrong = None,
    as_json: AsJson = False,
) -> None:
    """Are replies as right with injected KV as with text? Token F1 with the gold answers."""

    async def work(settings: Settings) -> None:
        from benchmarks.quality.answers import run_answers
        from benchmarks.quality.arms.setups import varied
        from benchmarks.quality.eval_session import Asked

        setups = varied(
            _numbers("--k", k), [settings.window], ["time"], [settings.tail], [settings.store_dtype]
        )
        report = await run_answers(settings, Asked(data, wrong_gold, limit, seed), setups, note)
        _show(answers_tables(report), report, as_json=as_json)

    run(work)


@evaluate.command("end-to-end")
def end_to_end(
    data: Data,
    limit: Limit = None,
    seed: Seed = 0,
    wrong_gold: Wrong = None,
    as_json: AsJson = False,
) -> None:
    """Dialogue in, answers out: facts are extracted and recalled as the product does it."""

    async def work(settings: Settings) -> None:
        from benchmarks.quality.end_to_end import run_end_to_end
        from benchmarks.quality.eval_session import Asked

        report = await run_end_to_end(settings, Asked(data, wrong_gold, limit, seed), note)
        _show(end_to_end_tables(report), report, as_json=as_json)

    run(work)


@evaluate.command()
def retrieval(
    data: Data,
    limit: Annotated[
        int | None, Option(help="Questions, at random, no adversarial ones. [all]")
    ] = None,
    seed: Seed = 0,
    mem0: Annotated[
        Path | None, Option(help="A Python that has mem0ai and sentence-transformers, beside it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Does recall find the evidence? No language model is loaded."""

    async def work(settings: Settings) -> None:
        from benchmarks.quality.without_llm import run_retrieval

        report = await run_retrieval(settings, data, mem0, limit, seed, note)
        _show(retrieval_tables(report), report, as_json=as_json)

    run(work)


@evaluate.command()
def extraction(
    data: Annotated[Path, Option("--data", help="A CSV file of Synthetic-Persona-Chat.")],
    limit: Annotated[int | None, Option(help="Dialogues, at random. [all]")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Do the rules find what people say of themselves, and nothing else?"""

    async def work(settings: Settings) -> None:
        from benchmarks.quality.without_llm import run_extraction

        report = await run_extraction(data, limit, seed)
        _show(extraction_tables(report), report, as_json=as_json)

    run(work)


def _show(tables: list[Table], report: dict[str, Any], *, as_json: bool) -> None:
    (note if as_json else say)(as_text(report, tables))
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
