"""The measured figures of README.md and the summaries of docs, from docs/benchmarks."""

import json
from collections.abc import Iterator
from typing import Any

from scripts.pages.source_tree import ROOT

Report = dict[str, Any]
_FOLDER = "docs/benchmarks"
_FULL = "h200-llama-8b-full"
_CPU = "cpu-smollm2"
_RANKS = ("h200x2-llama-8b", "h200x2-llama-70b")
_FIDELITY = ("eval-fidelity-h200-k20", "eval-fidelity-h200-k50")
_ANSWERS = "eval-answers-h200"
# The rows of README.md: a name, its report, and the numbers of facts.
_SHOWN = (("H200, 8B", _FULL, (0, 50, 100, 200, 500)), ("2 CPU cores, 135M", _CPU, (50, 100)))


def readme_table() -> str:
    """The one table of README.md: time to the first token, by machine and number of facts."""
    return "\n".join(_readme_lines()) + "\n"


def other_machines() -> str:
    """Speedups on two GPUs and times on CPU cores, for docs/performance.md."""
    return "\n".join([*map(_ranks, _RANKS), _cpu(_read(_CPU))]) + "\n"


def demo() -> str:
    """The result of `inferscale demo`, for docs/evaluation.md."""
    report = _read("cpu-demo")
    right, times = report["correct"], report["ttft_ms"]
    return (
        f"{report['n']} questions (`inferscale demo --json`, {_page_link('cpu-demo')}): right "
        f"answers {right['text']} as text, {right['kv']} as KV, {right['none']} without memory; "
        f"median first token {times['text']['median']:,.0f} ms against "
        f"{times['kv']['median']:,.0f} ms ({report['speedup']:.1f}x); "
        f"{report['prefilled_tokens']:.0f} of {report['prompt_tokens']:,.0f} prompt tokens "
        "prefilled.\n"
    )


def quality_summary() -> str:
    """KV against text on LoCoMo in one table, for docs/evaluation.md."""
    return "\n".join(_quality()) + "\n"


def _readme_lines() -> Iterator[str]:
    full, cpu = _read(_FULL), _read(_CPU)
    yield "| machine | facts | prompt tokens | text | text, same prompt again | KV | text / KV |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, report, counts in _SHOWN:
        yield from (_row(name, row) for row in _read(report)["rows"] if row["k"] in counts)
    fidelity = _read(_FIDELITY[1])["rows"][0]
    score = fidelity["retained"]["kv"]
    yield (
        f"\n*H200, 8B*: {full['device']}, random weights of Llama-3.1-8B's shape in bf16, "
        f"{full['fact_tokens']} tokens a fact, medians of {full['n']} ({_link(_FULL)}). "
        f"*2 CPU cores, 135M*: the bundled model in fp32, {cpu['fact_tokens']} tokens a fact, "
        f"medians of {cpu['n']} ({_link(_CPU)}). *Text* finds nothing in vLLM's prefix cache; "
        "*same prompt again* finds all of it, which facts that change or move do not. On "
        f"LoCoMo, with the bundled model and {fidelity['k']} facts, KV retains "
        f"{score['value']:.2f} [{score['low']:.2f}, {score['high']:.2f}] of what the same facts "
        f"as text gain in the likelihood of the right answer ({_link(_FIDELITY[1])})."
    )


def _row(name: str, row: Report) -> str:
    warm = row.get("text_warm_ttft_ms")
    again = f"{warm['median']:,.1f} ms" if warm else "-"
    text, kv = (row[f"{arm}_ttft_ms"]["median"] for arm in ("text", "kv"))
    return (
        f"| {name} | {row['k']} | {row['prompt_tokens']:,} | {text:,.1f} ms | {again} "
        f"| {kv:,.1f} ms | {row['speedup']:.1f}x |"
    )


def _ranks(name: str) -> str:
    report = _read(name)
    speedups = ", ".join(f"{row['speedup']:.1f}x at k={row['k']}" for row in report["rows"])
    return (
        f"{report['model']} on {report['tensor_parallel']} GPUs (`--tensor-parallel "
        f"{report['tensor_parallel']}`, n={report['n']}, {_page_link(name)}): {speedups}.\n"
    )


def _cpu(report: Report) -> str:
    rows = "; ".join(
        f"{row['k']} facts of {report['fact_tokens']} tokens "
        f"{row['text_ttft_ms']['median']:,.0f} ms text, {row['kv_ttft_ms']['median']:,.0f} ms KV "
        f"({row['speedup']:.1f}x)"
        for row in report["rows"]
        if row["k"] >= 50
    )
    cores = report["hardware"]["cores"]
    return (
        f"On {cores} CPU cores with the bundled model in fp32: {rows} "
        f"(`inferscale bench --json`, n={report['n']}, {_page_link(_CPU)})."
    )


def _quality() -> Iterator[str]:
    answers = _read(_ANSWERS)
    f1 = {row["k"]: row["f1"] for row in answers["rows"]}
    yield (
        f"The bundled model in bf16: {_read(_FIDELITY[0])['n']} questions "
        f"(`inferscale eval fidelity`), for F1 {answers['n']} (`inferscale eval answers`, "
        f"{_page_link(_ANSWERS)}):\n"
    )
    yield (
        "| facts | of text's gain in likelihood KV retains (95 %) | likeliest tokens that are "
        "text's: KV | text, facts by relevance | F1 text | F1 KV | F1 without facts |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name in _FIDELITY:
        row = _read(name)["rows"][0]
        kv, agree, scores = row["retained"]["kv"], row["forced_agreement"], f1[row["k"]]
        none, text, ours = (f"{scores[arm]['value']:.3f}" for arm in ("none", "text", "kv"))
        yield (
            f"| {row['k']} ({_page_link(name)}) "
            f"| {kv['value']:.2f} [{kv['low']:.2f}, {kv['high']:.2f}] "
            f"| {agree['kv']['value']:.2f} | {agree['relevance']['value']:.2f} "
            f"| {text} | {ours} | {none} |"
        )


def _read(name: str) -> Report:
    report: Report = json.loads((ROOT / _FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return report


def _link(name: str) -> str:
    return f"[report]({_FOLDER}/{name}.json)"


def _page_link(name: str) -> str:
    return f"[report](benchmarks/{name}.json)"
