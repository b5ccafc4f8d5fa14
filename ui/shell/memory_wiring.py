"""Wiring of the memory and timings panels: each event to its handler and the parts it changes."""

from typing import Any

import gradio as gr

from ui.conversations.conversation_panel import ConversationPanel
from ui.memory.bulk_panel import BulkPanel
from ui.memory.fact_panel import FactPanel
from ui.parts.event_handlers import QUICK, SLOW, Parts, of, updates
from ui.parts.file_download import SAVE
from ui.parts.row_events import clicked
from ui.shell.user_handlers import UserHandlers
from ui.timings.three_way import ThreeWayMeasurement

FACTS_OUTPUTS = ("facts", "facts_notice", "new_fact", "opened")
LOOKED_AT = ("find_fact", "opened")
BULK_OUTPUTS = ("bulk_notice", "audit", "confirmation", "residency")
# All that forgetting everything changes besides.
EMPTIED = (
    *("left", "right", "left_trace", "right_trace", "strip", "notice", "send", "stop", "mode"),
    *("conversation_id", "acts", "editing", "conversations", "list_notice", "memory", "moved_on"),
    "traces",
)


def wire_memory(parts: Parts, users: UserHandlers, demo: gr.Blocks) -> None:
    """Connect the memory panel."""
    looked_at, outputs = of(parts, LOOKED_AT), of(parts, FACTS_OUTPUTS)
    for trigger in (parts["new_fact"].submit, parts["add"].click):
        trigger(
            updates(parts, users.facts, FactPanel.add), [parts["new_fact"], *looked_at], outputs,
            concurrency_id="facts", **SLOW,
        )  # fmt: skip
    for rows in (parts["facts"], parts["past_facts"]):
        acted = rows.click(clicked, None, parts["clicked"], **QUICK).then(
            updates(parts, users.facts, FactPanel.act), [parts["clicked"], *looked_at], outputs,
            concurrency_id="facts", **SLOW,
        )  # fmt: skip
        _list_past(acted, parts, users)
    parts["find_fact"].change(
        updates(parts, users.facts, FactPanel.listed),
        looked_at,
        outputs,
        trigger_mode="always_last",
        **QUICK,
    )
    for event in (parts["with_past"].change, parts["find_fact"].change):
        event(
            updates(parts, users.facts, FactPanel.past), of(parts, ("find_fact", "with_past")),
            parts["past_facts"], trigger_mode="always_last", **QUICK,
        )  # fmt: skip
    parts["facts"].change(
        updates(parts, users.bulk, BulkPanel.where),
        None,
        parts["residency"],
        concurrency_id="where",
        **SLOW,
    )
    demo.load(updates(parts, users.facts, FactPanel.listed), looked_at, outputs, **QUICK)
    _wire_bulk(parts, users)


def _wire_bulk(parts: Parts, users: UserHandlers) -> None:
    parts["export"].click(
        updates(parts, users.bulk, BulkPanel.export),
        None,
        parts["download"],
        concurrency_id="export",
        **SLOW,
    ).then(None, parts["download"], None, js=SAVE)
    outputs = of(parts, BULK_OUTPUTS)
    changing = [
        parts["take_in"].upload(
            updates(parts, users.bulk, BulkPanel.take_in), parts["take_in"], outputs,
            concurrency_id="facts", **SLOW,
        ),
        parts["sample"].click(
            updates(parts, users.bulk, BulkPanel.load_sample), None, outputs,
            concurrency_id="facts", **SLOW,
        ),
        parts["no_sample"].click(
            updates(parts, users.bulk, BulkPanel.remove_sample), None, outputs,
            concurrency_id="facts", **SLOW,
        ),
    ]  # fmt: skip
    for event in changing:
        listed = event.then(
            updates(parts, users.conversations, ConversationPanel.listed),
            of(parts, ("conversation_id", "find_conversation")), parts["conversations"], **QUICK,
        )  # fmt: skip
        _list_facts(listed, parts, users)
    for trigger in (parts["everything"].click, parts["confirmation"].submit):
        emptied = trigger(
            updates(parts, users.bulk, BulkPanel.forget_everything, tab=True),
            parts["confirmation"],
            of(parts, (*BULK_OUTPUTS, *EMPTIED)), concurrency_id="leave", **SLOW,
        )  # fmt: skip
        _list_facts(emptied, parts, users)


def wire_timings(parts: Parts, users: UserHandlers) -> None:
    """Connect the timings panel."""
    for trigger in (parts["measure"].click, parts["question"].submit):
        trigger(
            updates(parts, users.measuring, ThreeWayMeasurement.run),
            of(parts, ("question", "measured_k")),
            parts["measured"], concurrency_id="measure", **SLOW,
        )  # fmt: skip


def _list_facts(event: Any, parts: Parts, users: UserHandlers) -> None:
    listed = event.then(
        updates(parts, users.facts, FactPanel.listed),
        of(parts, LOOKED_AT),
        of(parts, FACTS_OUTPUTS),
        **QUICK,
    )
    _list_past(listed, parts, users)


def _list_past(event: Any, parts: Parts, users: UserHandlers) -> None:
    event.then(
        updates(parts, users.facts, FactPanel.past), of(parts, ("find_fact", "with_past")),
        parts["past_facts"], **QUICK,
    )  # fmt: skip
