"""The reports of `inferscale eval` as tables for people."""

from typing import Any

from app.cli.output import table

Report = dict[str, Any]


def heading(report: Report, what: str) -> str:
    """What was measured, on what, and of how many questions."""
    machine, versions = report["hardware"], report["versions"]
    return (
        f"{what}\n{report['model']} in {report['dtype']}, {report['n']} questions of "
        f"{report['data']}, seed {report['seed']}, {report['seconds']:.0f} s\n"
        f"{machine['gpu'] or machine['cpu']}, {machine['cores']} cores, "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
    )


def fidelity_tables(report: Report) -> str:
    """Losses, what is retained, replies, categories, and what was aimed at."""
    parts = (_likelihood, _replies, _next_tokens, _categories, _aims)
    return "\n\n".join(part(report) for part in parts)


def answers_tables(report: Report) -> str:
    """F1 by arm, over all questions and by category."""
    title = heading(
        report,
        f"Token F1 of greedy replies of {report['reply_tokens']} tokens, 95 % interval; "
        f"{report['instruction']!r} behind each question",
    )
    columns = ["k", "category", "questions", "none", "text", "KV", "reordered", "KV - text"]
    columns.append("same reply")
    lines = [
        [
            row["k"],
            name,
            figures["questions"],
            *(estimate(figures["f1"][arm]) for arm in ("none", "text", "kv", "reordered")),
            estimate(figures["kv_over_text"]),
            f"{figures['same_reply']:.2f}",
        ]
        for row in report["rows"]
        for name, figures in ({"all": row} | row["categories"]).items()
    ]
    return table(title, columns, lines)


def estimate(figure: Report) -> str:
    """A figure with its interval."""
    value, low, high = (figure[name] for name in ("value", "low", "high"))
    if value is None:
        return "-"
    return f"{value:.2f} [{low:.2f}, {high:.2f}]" if low is not None else f"{value:.2f}"


def setup(row: Report) -> list[object]:
    """The first cells of a row: how facts were encoded and served."""
    return [row["k"], row["window"], row["order"], row["tail"], row["store"]]


SETUP = ["k", "window", "order", "tail", "store"]


def _likelihood(report: Report) -> str:
    title = heading(
        report,
        "Negative log likelihood of the gold answer, nats a token; retained = "
        "(none - arm) / (none - text), 95 % interval",
    )
    columns = [*SETUP, "none", "text", "KV", "reordered", "KV retains", "reordered retains"]
    lines = [
        [
            *setup(row),
            *(f"{row['nll'][arm]:.4f}" for arm in ("none", "text", "kv", "reordered")),
            estimate(row["retained"]["kv"]),
            estimate(row["retained"]["reordered"]),
        ]
        for row in report["rows"]
    ]
    return table(title, columns, lines)


def _replies(report: Report) -> str:
    title = (
        f"Share of the tokens of greedy replies that are text's, {report['reply_tokens']} tokens, "
        "95 % interval"
    )
    columns = [*SETUP, "KV", "reordered", "none", "KV - reordered"]
    lines = [
        [
            *setup(row),
            *(estimate(row["agreement"][arm]) for arm in ("kv", "reordered", "none")),
            estimate(row["agreement_over_reordered"]),
        ]
        for row in report["rows"]
    ]
    return table(title, columns, lines)


def _next_tokens(report: Report) -> str:
    title = (
        "The same of likeliest tokens along the gold answer; and the reply's first token, mean "
        "KL(text || arm) in nats"
    )
    columns = [*SETUP, "KV", "reordered", "none", "KL KV", "KL reordered", "KL none"]
    lines = [
        [
            *setup(row),
            *(estimate(row["forced_agreement"][arm]) for arm in ("kv", "reordered", "none")),
            *(f"{row['kl'][arm]['mean']:.4f}" for arm in ("kv", "reordered", "none")),
        ]
        for row in report["rows"]
    ]
    return table(title, columns, lines)


def _categories(report: Report) -> str:
    columns = [*SETUP, "category", "questions", "none", "text", "KV", "KV retains", "KV agrees"]
    lines = [
        [
            *setup(row),
            name,
            of_it["questions"],
            *(f"{of_it['nll'][arm]:.4f}" for arm in ("none", "text", "kv")),
            estimate(of_it["retained"]),
            estimate(of_it["agreement"]),
        ]
        for row in report["rows"]
        for name, of_it in row["categories"].items()
    ]
    return table("The same by category", columns, lines)


def _aims(report: Report) -> str:
    verdicts = {True: "yes", False: "no", None: "-"}
    lines = [
        [
            aim["name"],
            f">= {aim['at_least']:g}",
            "-" if aim["measured"] is None else f"{aim['measured']:.4f}",
            verdicts[aim["reached"]],
        ]
        for aim in report["targets"]
    ]
    return table("What was aimed at", ["what", "target", "measured", "reached"], lines)
