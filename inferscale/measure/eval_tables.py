"""Tables of the reports of `inferscale eval`, for people and for docs/evaluation.md."""

from typing import Any

from inferscale.output import ReportTable, table

Report = dict[str, Any]

_SETUP = ["k", "window", "order", "tail", "store"]
_ARMS = {
    "none": "none",
    "text": "text",
    "kv": "KV",
    "reordered": "reordered",
    "relevance": "by relevance",
}
_COMPARED = {
    "kv": "KV",
    "reordered": "reordered",
    "relevance": "by relevance",
    "none": "none",
}
_VERDICTS = {True: "yes", False: "no", None: "-"}


def as_text(report: Report, tables: list[ReportTable]) -> str:
    """Format the source of a report, and its tables."""
    return "\n\n".join([source(report), *(table(*each) for each in tables)])


def source(report: Report) -> str:
    """Name model, questions, machine and versions."""
    machine = report["hardware"]
    return (
        f"{report['model']} in {report['dtype']}, {_counted(report)} of {report['data']}, "
        f"seed {report['seed']}, {report['seconds']:.0f} s; {machine['gpu'] or machine['cpu']}, "
        f"{machine['cores']} cores, "
        + ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    )


def _counted(report: Report) -> str:
    return f"{report['n']} {'turns' if 'grounded_precision' in report else 'questions'}"


def fidelity_tables(report: Report) -> list[ReportTable]:
    """Make the tables of losses, next tokens, replies, divergences, categories and targets."""
    parts = (_likelihood, _next_tokens, _replies, _divergences, _categories, _aims)
    return [part(report) for part in parts]


def answers_tables(report: Report) -> list[ReportTable]:
    """Make the table of F1 by arm, over all questions and by category."""
    title = (
        f"Token F1 of greedy replies of {report['reply_tokens']} tokens, 95 % interval; "
        f'"{report["instruction"]}" behind each question'
    )
    columns = ["k", "category", "questions", *_ARMS.values(), "KV - text"]
    rows: list[list[object]] = [
        [
            row["k"],
            name,
            figures["questions"],
            *(estimate(figures["f1"][arm]) for arm in _ARMS),
            estimate(figures["kv_over_text"]),
            f"{figures['same_reply']:.2f}",
        ]
        for row in report["rows"]
        for name, figures in ({"all": row} | row["categories"]).items()
    ]
    return [ReportTable(title, [*columns, "same reply"], rows)]


def end_to_end_tables(report: Report) -> list[ReportTable]:
    """Make the table of facts that came of the dialogue, and F1 by arm."""
    title = (
        f"{report['turns']} turns became {sum(report['facts'].values())} facts of "
        f"{len(report['facts'])} users in {report['remember_seconds']:.0f} s; token F1 of greedy "
        f"replies with {report['k']} recalled facts at most, 95 % interval"
    )
    columns = ["questions", "none", "text", "KV", "KV - text", "same reply", "facts used"]
    row: list[object] = [
        report["n"],
        *(estimate(report["f1"][arm]) for arm in ("none", "text", "kv")),
        estimate(report["kv_over_text"]),
        f"{report['same_reply']:.2f}",
        f"{report['facts_used']:.1f}",
    ]
    return [ReportTable(title, [*columns, "injected"], [[*row, f"{report['injected_facts']:.1f}"]])]


def retrieval_tables(report: Report) -> list[ReportTable]:
    """Make the tables of recall of evidence, complete evidence, and times."""
    return [_evidence_shares(report), _complete_evidence(report), _recall_times(report)]


def _evidence_shares(report: Report) -> ReportTable:
    cutoffs = [str(k) for k in report["cutoffs"]]
    rows: list[list[object]] = [
        [name, category, found["n"], *(estimate(found["recall"][k]) for k in cutoffs)]
        for name, system in report["systems"].items()
        for category, found in (
            {"all but adversarial": system["overall"]} | system["by_category"]
        ).items()
    ]
    title = (
        f"Share of the evidence among the facts found, of {report['facts']} facts, 95 % interval"
    )
    return ReportTable(title, ["recall by", "category", "questions", *_at(cutoffs)], rows)


def _complete_evidence(report: Report) -> ReportTable:
    cutoffs = [str(k) for k in report["cutoffs"]]
    rows: list[list[object]] = [
        [name, *(estimate(system["overall"]["all_evidence"][k]) for k in cutoffs)]
        for name, system in report["systems"].items()
    ]
    title = (
        "Share of the questions with all their evidence among the facts found, all but "
        "adversarial, 95 % interval"
    )
    return ReportTable(title, ["recall by", *_at(cutoffs)], rows)


def _recall_times(report: Report) -> ReportTable:
    timed = {
        f"{name}, {what}": system[what]
        for name, system in report["systems"].items()
        for what in ("add_ms", "search_ms")
        if what in system
    }
    speed = report["speed"]
    timed |= {
        f"{what}, {speed['facts']:,} facts": speed[what] for what in ("search_ms", "recall_ms")
    }
    rows: list[list[object]] = [
        [name, *(f"{spread[part]:.2f}" for part in ("mean", "median", "p90", "p99"))]
        for name, spread in timed.items()
    ]
    return ReportTable("Milliseconds", ["what", "mean", "median", "p90", "p99"], rows)


def _at(cutoffs: list[str]) -> list[str]:
    return [f"@{k}" for k in cutoffs]


def extraction_tables(report: Report) -> list[ReportTable]:
    """Make the tables of statements found and not found, and of facts made up."""
    rows: list[list[object]] = [
        ["first-person statements", report["statements"]],
        ["of them found", f"{report['found']} ({report['recall']:.3f})"],
        ["facts", report["facts"]],
        ["grounded in their turn", f"{report['grounded_precision']:.4f}"],
        ["of no first-person statement", report["beside"]],
        ["turns that failed", report["failed_turns"]],
        ["persona sentences that a turn says", report["persona_said"]],
        ["of them found", report["persona_found"]],
    ]
    missed = sorted(report["missed"].items(), key=lambda each: -each[1])
    title = f"{report['turns']} turns of {report['dialogues']} dialogues"
    tables = [ReportTable(title, ["what", "count"], rows)]
    return [
        *tables,
        ReportTable("Not found", ["why", "statements"], [list(each) for each in missed]),
    ]


def estimate(figure: Report) -> str:
    """Format a figure with its interval."""
    value, low, high = (figure[name] for name in ("value", "low", "high"))
    if value is None:
        return "-"
    return f"{value:.2f} [{low:.2f}, {high:.2f}]" if low is not None else f"{value:.2f}"


def _setup(row: Report) -> list[object]:
    """The first cells of a row: how facts were encoded and served."""
    return [row[name] for name in _SETUP]


def _likelihood(report: Report) -> ReportTable:
    title = (
        "Negative log likelihood of the gold answer, nats a token; retained = "
        "(none - arm) / (none - text), 95 % interval"
    )
    columns = [*_SETUP, *_ARMS.values(), "KV retains", "reordered retains"]
    rows: list[list[object]] = [
        [
            *_setup(row),
            *(f"{row['nll'][arm]:.3f}" for arm in _ARMS),
            estimate(row["retained"]["kv"]),
            estimate(row["retained"]["reordered"]),
        ]
        for row in report["rows"]
    ]
    return ReportTable(title, columns, rows)


def _replies(report: Report) -> ReportTable:
    title = (
        f"Share of the tokens of greedy replies that are text's, {report['reply_tokens']} tokens, "
        "95 % interval"
    )
    columns = [*_SETUP, *_COMPARED.values(), "KV - reordered", "KV - by relevance"]
    rows: list[list[object]] = [
        [
            *_setup(row),
            *(estimate(row["agreement"][arm]) for arm in _COMPARED),
            *(estimate(row["agreement_over"][arm]) for arm in ("reordered", "relevance")),
        ]
        for row in report["rows"]
    ]
    return ReportTable(title, columns, rows)


def _next_tokens(report: Report) -> ReportTable:
    title = "Share of the likeliest tokens along the gold answer that are text's, 95 % interval"
    columns = [*_SETUP, *_COMPARED.values(), "KV - reordered", "KV - by relevance"]
    rows: list[list[object]] = [
        [
            *_setup(row),
            *(estimate(row["forced_agreement"][arm]) for arm in _COMPARED),
            *(estimate(row["forced_agreement_over"][arm]) for arm in ("reordered", "relevance")),
        ]
        for row in report["rows"]
    ]
    return ReportTable(title, columns, rows)


def _divergences(report: Report) -> ReportTable:
    title = "The reply's first token: mean KL(text || arm) in nats"
    rows: list[list[object]] = [
        [*_setup(row), *(f"{row['kl'][arm]['mean']:.3f}" for arm in _COMPARED)]
        for row in report["rows"]
    ]
    return ReportTable(title, [*_SETUP, *_COMPARED.values()], rows)


def _categories(report: Report) -> ReportTable:
    columns = [*_SETUP, "category", "questions", "none", "text", "KV", "KV retains", "KV agrees"]
    rows: list[list[object]] = [
        [
            *_setup(row),
            name,
            of_it["questions"],
            *(f"{of_it['nll'][arm]:.3f}" for arm in ("none", "text", "kv")),
            estimate(of_it["retained"]),
            estimate(of_it["agreement"]),
        ]
        for row in report["rows"]
        for name, of_it in row["categories"].items()
    ]
    return ReportTable("The same by category", columns, rows)


def _aims(report: Report) -> ReportTable:
    rows: list[list[object]] = [
        [
            aim["name"],
            f">= {aim['at_least']:g}",
            "-" if aim["measured"] is None else f"{aim['measured']:.3f}",
            _VERDICTS[aim["reached"]],
        ]
        for aim in report["targets"]
    ]
    return ReportTable("What was aimed at", ["what", "target", "measured", "reached"], rows)
