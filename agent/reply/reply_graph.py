"""reply: recall -> plan -> record -> respond."""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agent.graph_context import ReplyContext
from agent.graph_state import ReplyState
from agent.reply.plan import plan
from agent.reply.recall import recall
from agent.reply.record import record
from agent.reply.respond import respond

RECURSION_LIMIT = 8

ReplyGraph = CompiledStateGraph[ReplyState, ReplyContext, ReplyState, ReplyState]


def reply_graph() -> ReplyGraph:
    """The graph of a reply; its `custom` stream carries the stored turn and (mode, event)."""
    builder = StateGraph(ReplyState, context_schema=ReplyContext)
    builder.add_node("recall", recall)
    builder.add_node("plan", plan)
    builder.add_node("record", record)
    builder.add_node("respond", respond)
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "plan")
    builder.add_edge("plan", "record")
    builder.add_edge("record", "respond")
    builder.add_edge("respond", END)
    return builder.compile()
