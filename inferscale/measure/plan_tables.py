"""Tables of a report of `inferscale plan`, for people and for docs/scale.md."""

from typing import Any

from inferscale.output import ReportTable, counted, table

Report = dict[str, Any]

_GIB = 1 << 30
_NEEDED = {
    "text": "all messages as text",
    "kv": "all messages as KV: the next three together",
    "messages_as_kv": "  the messages",
    "encoding": "  encoding, beside the chat",
    "talking_at_hand": "  who talks at a time, on device or host",
    "talking_on_device": "who talks at a time, on the device alone",
    "all_at_hand": "everybody, on device or host",
    "all_on_disk": "everybody, on disk",
}
_TIERS = {
    "text": "prefilled as text",
    "device": "KV from the device",
    "host": "KV from host memory",
    "disk": "KV from disk",
}


def as_text(report: Report) -> str:
    """Format the source of the rates, and all tables."""
    return "\n\n".join([source(report), *(table(*each) for each in tables(report))])


def source(report: Report) -> str:
    """Name hardware and model for which the rates hold, and the figures that are no measurement."""
    rates, fleet = report["rates"], report["fleet"]
    held = f"Rates of {rates['model']} on {rates['tensor_parallel']} {rates['hardware']}: "
    notes = [f"an estimate, {rates['estimate']}" if rates["estimate"] else "measured"]
    if rates["beyond_measured"]:
        notes.append("more tokens than were measured, extended in a straight line")
    if not rates["load_measured"]:
        notes.append("no load was measured: requests count one at a time, replies not at all")
    return (
        f"{report['model']}, {fleet['users']:,} users with {fleet['facts']} facts of "
        f"{fleet['tokens']} tokens\n{held}{'; '.join(notes)}."
    )


def tables(report: Report) -> list[ReportTable]:
    """Make the tables of bytes, users an engine, times, engines, load and encoding."""
    return [part(report) for part in (_bytes, _users, _times, _engines, _load, _encoding)]


def _bytes(report: Report) -> ReportTable:
    names = {"a_token": "a token", "a_fact": "a fact", "a_user": "a user", "fleet": "all users"}
    stored = "" if report["fleet"]["store"] == "auto" else f", {report['fleet']['store']}"
    rows: list[list[object]] = [[names[k], size(n)] for k, n in report["bytes"].items()]
    return ReportTable(f"KV{stored}", ["of", "bytes"], rows)


def _users(report: Report) -> ReportTable:
    engine = report["engine"]
    rows: list[list[object]] = [
        [tier, size(engine["bytes"][tier]), f"{users:,}"] for tier, users in engine["users"].items()
    ]
    used = f"weights {size(engine['bytes']['weights'])}, cache {size(engine['bytes']['cache'])}"
    return ReportTable(f"An engine, beside {used}", ["for facts", "bytes", "users"], rows)


def _times(report: Report) -> ReportTable:
    fleet, text = report["fleet"], report["ttft_ms"]["text"]
    rows: list[list[object]] = [
        [_TIERS[tier], f"{ms:,.1f}", f"{text / ms:.2f}x"]
        for tier, ms in report["ttft_ms"].items()
        if ms is not None
    ]
    facts = min(fleet["k"], fleet["facts"])
    title = f"Time to first token with {facts} facts, alone on an engine"
    return ReportTable(title, ["facts", "ms", "text / this"], rows)


def _engines(report: Report) -> ReportTable:
    needed = report["engines_needed"]
    rows: list[list[object]] = [
        [what, f"{needed[name]:,}"] for name, what in _NEEDED.items() if needed[name] is not None
    ]
    load = report["load"]
    title = (
        f"Engines for {load['messages_per_s']:,.1f} messages/s, {load['talking']:,.0f} users "
        f"talking, engines busy {report['fleet']['utilization']:.0%} at most"
    )
    return ReportTable(title, ["for", "engines"], rows)


def _load(report: Report) -> ReportTable:
    rows: list[list[object]] = [
        [
            arm,
            f"{load['busy_ms']:.1f}",
            f"{load['utilization']:.1%}",
            "without end" if load["wait_ms"] is None else f"{load['wait_ms']:.1f}",
        ]
        for arm, load in report["load"]["arms"].items()
    ]
    columns = ["facts as", "ms of an engine a message", "busy", "mean wait, ms"]
    load = report["load"]
    title = (
        f"Load on {counted(report['engines'], 'engine')}: {load['held_at_opening']:.1%} of "
        f"conversations begin with KV, {load['as_text']:.1%} of messages have none"
    )
    return ReportTable(title, columns, rows)


def _encoding(report: Report) -> ReportTable:
    encoding = report["encoding"]
    rows: list[list[object]] = [
        [name, *(f"{each:,.1f}" for each in figures)]
        for name, figures in (
            ("facts/s of an engine", encoding["facts_per_s"].values()),
            ("seconds for a user's facts", encoding["a_user_s"].values()),
            ("seconds until who talks is back", encoding["after_loss_s"]["talking"].values()),
            ("seconds until all at hand is back", encoding["after_loss_s"]["at_hand"].values()),
        )
    ]
    new, again = encoding["to_encode_per_s"].values()
    title = (
        f"Encoding {new:,.1f} new facts/s and {again:,.1f} again, of who comes back: "
        f"{encoding['utilization']:.1%} busy; then the loss of one of "
        f"{counted(report['engines'], 'engine')}"
    )
    return ReportTable(title, ["what", "alone", "beside a chat"], rows)


def simulated_as_text(report: Report) -> str:
    """Format the report of a simulation."""
    return "\n\n".join(table(*each) for each in simulation_tables(report))


def simulation_tables(report: Report) -> list[ReportTable]:
    """Make the tables of times and tiers by span, and of the loss."""
    return [_spans(report), _loss(report)]


def _spans(report: Report) -> ReportTable:
    rows: list[list[object]] = [
        [
            name,
            f"{span['messages']:,}",
            *(f"{share:.1%}" for share in span["found"].values()),
            *(f"{span['ttft_ms'][figure]:,.1f}" for figure in ("median", "p90", "p99")),
            f"{span['wait_ms']['mean']:,.1f}",
        ]
        for name, span in report["spans"].items()
        if span["messages"]
    ]
    scenario = report["scenario"]
    title = (
        f"{scenario['hours']:g} hours on {report['engines']} engines as {scenario['mode']}, "
        f"simulated in {report['took_s']:.0f} s of one core"
    )
    columns = ["span", "messages", "device", "host", "disk", "text"]
    return ReportTable(title, [*columns, "TTFT median, ms", "p90", "p99", "mean wait"], rows)


def _loss(report: Report) -> ReportTable:
    encoding, moved = report["encoding"], report["moved"]
    rows: list[list[object]] = [
        ["busiest engine", f"{report['busiest']:.1%}"],
        ["busiest encoder", f"{encoding['busiest']:.1%}"],
        ["facts waiting to be encoded, at most", f"{encoding['most_waiting_facts']:,}"],
    ]
    if moved is not None and report["scenario"]["mode"] == "kv":
        back = moved["back_after_s"]
        rows += [
            ["users of the lost engine seen", f"{moved['users']:,}"],
            ["of their messages with KV, before", _share(moved["before"])],
            ["in the worst minute", _share(moved["lowest"])],
            ["as before again after", "never" if back is None else f"{back:,.0f} s"],
        ]
    if moved is not None:
        rows += [
            ["messages asked again elsewhere", f"{report['retried']:,}"],
            ["replies broken off", f"{report['broken']:,}"],
        ]
    return ReportTable("Engines, and the loss of one", ["what", "figure"], rows)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def size(count: float) -> str:
    """Format bytes in the binary unit that suits."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024:
            return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} PiB"
