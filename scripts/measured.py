"""The measured figures of README.md, from the reports under docs/benchmarks."""

import json
from collections.abc import Iterator
from typing import Any

Report = dict[str, Any]
FOLDER = "docs/benchmarks"


def block(root: Any) -> str:
    """All of it, in Markdown. root: the project's folder."""
    reports = {
        name: json.loads((root / FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        for name in (
            "h200-llama-8b-full",
            "h200x2-llama-8b",
            "h200x2-llama-70b",
            "cpu-smollm2",
            "cpu-demo",
            "eval-fidelity-h200-k20",
            "eval-fidelity-h200-k50",
            "eval-answers-h200",
        )
    }
    return "\n".join(_lines(reports)) + "\n"


def _lines(reports: dict[str, Report]) -> Iterator[str]:
    full = reports["h200-llama-8b-full"]
    yield (
        f"Time to the first token, {full['device']}, a randomly initialised model of "
        f"Llama-3.1-8B's shape in bf16, {full['fact_tokens']} tokens a fact, medians of "
        f"{full['n']} after {full['warm_ups_dropped']} dropped, modes taking turns "
        "(`inferscale bench --dummy-model llama-8b --full`, with which options says "
        f"[the page of all figures](docs/performance.md); {_link('h200-llama-8b-full')}):\n"
    )
    yield "| facts | prompt tokens | text, cold | text, same prompt again | KV | text cold / KV |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in full["rows"]:
        text, warm, kv = (row[f"{arm}_ttft_ms"]["median"] for arm in ("text", "text_warm", "kv"))
        yield (
            f"| {row['k']} | {row['prompt_tokens']:,} | {text:.1f} ms | {warm:.1f} ms "
            f"| {kv:.1f} ms | {row['speedup']:.2f}x |"
        )
    yield (
        "\n*Same prompt again* is vLLM's prefix cache at its best: the same facts in the same "
        "order. Facts that change or move do not hit it.\n"
    )
    yield from (_ranks(reports[name], name) for name in ("h200x2-llama-8b", "h200x2-llama-70b"))
    yield _cpu(reports["cpu-smollm2"])
    yield _demo(reports["cpu-demo"]) + "\n"
    yield from _quality(reports)


def _ranks(report: Report, name: str) -> str:
    speedups = ", ".join(f"{row['speedup']:.1f}x at k={row['k']}" for row in report["rows"])
    return (
        f"{report['model']} on {report['tensor_parallel']} GPUs (`--tensor-parallel "
        f"{report['tensor_parallel']}`, n={report['n']}, {_link(name)}): {speedups}.\n"
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
        f"(`inferscale bench --json`, n={report['n']}, {_link('cpu-smollm2')}).\n"
    )


def _demo(report: Report) -> str:
    right, times = report["correct"], report["ttft_ms"]
    return (
        f"The sample person, {report['n']} questions (`inferscale demo --json`, "
        f"{_link('cpu-demo')}): right answers {right['text']} as text, {right['kv']} as KV, "
        f"{right['none']} without memory; median first token {times['text']['median']:,.0f} ms "
        f"against {times['kv']['median']:,.0f} ms ({report['speedup']:.1f}x); "
        f"{report['prefilled_tokens']:.0f} of {report['prompt_tokens']:,.0f} prompt tokens "
        "prefilled."
    )


def _quality(reports: dict[str, Report]) -> Iterator[str]:
    answers = reports["eval-answers-h200"]
    f1 = {row["k"]: row["f1"] for row in answers["rows"]}
    names = [name for name in reports if "fidelity" in name]
    yield (
        f"Against text on LoCoMo, the bundled model in bf16: {reports[names[0]]['n']} questions "
        f"(`inferscale eval fidelity`), for F1 {answers['n']} (`inferscale eval answers`, "
        f"{_link('eval-answers-h200')}); [what is compared](docs/evaluation.md):\n"
    )
    yield (
        "| facts | of text's gain in likelihood KV retains (95 %) | likeliest tokens that are "
        "text's: KV | text, facts by relevance | F1 text | F1 KV | F1 without facts |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name in names:
        row = reports[name]["rows"][0]
        kv, agree, scores = row["retained"]["kv"], row["forced_agreement"], f1[row["k"]]
        none, text, ours = (f"{scores[arm]['value']:.3f}" for arm in ("none", "text", "kv"))
        yield (
            f"| {row['k']} ({_link(name)}) | {kv['value']:.2f} [{kv['low']:.2f}, {kv['high']:.2f}] "
            f"| {agree['kv']['value']:.2f} | {agree['relevance']['value']:.2f} "
            f"| {text} | {ours} | {none} |"
        )


def _link(name: str) -> str:
    return f"[report]({FOLDER}/{name}.json)"
