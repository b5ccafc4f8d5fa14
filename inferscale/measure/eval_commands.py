"""Commands `inferscale eval`: quality of answers and of memory, on data sets."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from app.settings import Settings
from inferscale.command import AsJson, run
from inferscale.measure.eval_tables import (
    answers_tables,
    as_text,
    end_to_end_tables,
    extraction_tables,
    fidelity_tables,
    retrieval_tables,
)
from inferscale.output import ReportTable, note, say, say_json
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
    """Compare injected KV with text by the likelihood of the gold answers.

    Lists have commas; the first of each is the base, and one thing is varied at a time.
    """
    given = {"windows": windows, "orders": orders, "tails": tails}
    lists = (ABLATION if ablate else DEFAULTS) | {n: v for n, v in given.items() if v is not None}

    async def work(settings: Settings) -> None:
        from benchmarks.quality.arms.setups import varied
        from benchmarks.quality.eval_session import QuestionSelection
        from benchmarks.quality.fidelity import run_fidelity

        every_window, every_order = _words(lists["windows"]), _words(lists["orders"])
        every_tail = _numbers("--tails", lists["tails"])
        setups = varied(_numbers("--k", k), every_window, every_order, every_tail, _words(stores))
        selection = QuestionSelection(data, wrong_gold, limit, seed)
        report = await run_fidelity(settings, selection, setups, note)
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
    """Compare injected KV with text by the token F1 of replies with the gold answers."""

    async def work(settings: Settings) -> None:
        from benchmarks.quality.answers import run_answers
        from benchmarks.quality.arms.setups import varied
        from benchmarks.quality.eval_session import QuestionSelection

        setups = varied(
            _numbers("--k", k), [settings.window], ["time"], [settings.tail], [settings.store_dtype]
        )
        report = await run_answers(
            settings, QuestionSelection(data, wrong_gold, limit, seed), setups, note
        )
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
    """Score answers from dialogue: facts are extracted and recalled as the product does it."""

    async def work(settings: Settings) -> None:
        from benchmarks.quality.end_to_end import run_end_to_end
        from benchmarks.quality.eval_session import QuestionSelection

        report = await run_end_to_end(
            settings, QuestionSelection(data, wrong_gold, limit, seed), note
        )
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
    """Measure recall of evidence. No language model is loaded."""

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
    """Measure recall and precision of the extraction rules on what people say of themselves."""

    async def work(settings: Settings) -> None:
        from benchmarks.quality.without_llm import run_extraction

        report = await run_extraction(data, limit, seed)
        _show(extraction_tables(report), report, as_json=as_json)

    run(work)


def _show(tables: list[ReportTable], report: dict[str, Any], *, as_json: bool) -> None:
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
