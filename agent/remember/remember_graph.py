"""The remember graph: from a stored user's turn to facts in SQL and in the memory.

    extract -> ground -> reconcile -> decide -> save -> hold

`save` goes back to `reconcile` when the user's facts changed in between.
"""

import asyncio
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from agent.extraction.grounding import ground
from agent.facts.reconcile import reconcile
from agent.remember.remember_state import RememberContext, RememberState
from memory_engine.types import EVERYWHERE

RECURSION_LIMIT = 25

RememberGraph = CompiledStateGraph[RememberState, RememberContext, RememberState, RememberState]


async def _extract(state: RememberState, runtime: Runtime[RememberContext]) -> dict[str, Any]:
    return {"candidates": await runtime.context.extractor.extract(state["turn"])}


async def _ground(state: RememberState, runtime: Runtime[RememberContext]) -> dict[str, Any]:
    found, zone = state["candidates"], runtime.context.zone
    return {"candidates": await asyncio.to_thread(ground, state["turn"], found, zone)}


async def _reconcile(state: RememberState, runtime: Runtime[RememberContext]) -> dict[str, Any]:
    turn = state["turn"]
    version, facts = await runtime.context.facts.snapshot(turn.owner)
    known = [fact for fact in facts if fact.scope == EVERYWHERE]
    said = state["candidates"]
    changes = await asyncio.to_thread(reconcile, known, said, turn.said_at, turn.id)
    return {"version": version, "known": known, "changes": changes}


async def _decide(state: RememberState, runtime: Runtime[RememberContext]) -> dict[str, Any]:
    decide = runtime.context.decide
    if decide is None:
        return {}
    return {"changes": await decide(state["turn"].owner, state["changes"], state["known"])}


async def _save(state: RememberState, runtime: Runtime[RememberContext]) -> dict[str, Any]:
    facts = runtime.context.facts
    return {"saved": await facts.save(state["turn"], state["changes"], state["version"])}


async def _hold(state: RememberState, runtime: Runtime[RememberContext]) -> dict[str, Any]:
    if state["changes"]:
        await runtime.context.memory_sync.ensure(state["turn"].owner)
    return {}


def _after_save(state: RememberState) -> Literal["hold", "reconcile"]:
    return "hold" if state["saved"] else "reconcile"


def remember_graph() -> RememberGraph:
    """Compile the graph."""
    builder = StateGraph(RememberState, context_schema=RememberContext)
    builder.add_node("extract", _extract)
    builder.add_node("ground", _ground)
    builder.add_node("reconcile", _reconcile)
    builder.add_node("decide", _decide)
    builder.add_node("save", _save)
    builder.add_node("hold", _hold)
    builder.add_edge(START, "extract")
    builder.add_edge("extract", "ground")
    builder.add_edge("ground", "reconcile")
    builder.add_edge("reconcile", "decide")
    builder.add_edge("decide", "save")
    builder.add_conditional_edges("save", _after_save)
    builder.add_edge("hold", END)
    return builder.compile()
