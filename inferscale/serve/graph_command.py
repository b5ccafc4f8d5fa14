"""`inferscale graph`: the LangGraph graphs of a message as Mermaid diagrams."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from inferscale.output import say


class Graph(StrEnum):
    """The graphs that a message passes."""

    REPLY = "reply"
    REMEMBER = "remember"


def graph(
    name: Annotated[
        Graph | None, typer.Argument(help="Only this one.", show_default="both")
    ] = None,
) -> None:
    """Print the reply graph and the remember graph as Mermaid; no model is loaded."""
    say("\n".join(as_mermaid(each) for each in ([name] if name else Graph)), end="")


def as_mermaid(name: Graph) -> str:
    """A graph as Mermaid, nodes and edges without styles; the last line ends."""
    from agent.remember.remember_graph import remember_graph
    from agent.reply.reply_graph import reply_graph

    compiled = reply_graph() if name is Graph.REPLY else remember_graph()
    head, *edges = compiled.get_graph().draw_mermaid(with_styles=False).splitlines()
    return "\n".join([f"%% {name}", head, *_in_order(edges)]) + "\n"


def _in_order(edges: Sequence[str]) -> list[str]:
    """The edges as a message meets them, from the start on; LangGraph sorts them by name."""
    left, ordered, reached = list(edges), list[str](), ["__start__"]
    for node in reached:
        for edge in [edge for edge in left if edge.split()[0] == node]:
            left.remove(edge)
            ordered.append(edge)
            if (target := edge.split()[-1].rstrip(";")) not in reached:
                reached.append(target)
    return [*ordered, *left]
