"""`inferscale graph`: the LangGraph graphs of a message as Mermaid diagrams."""

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
    return f"%% {name}\n{compiled.get_graph().draw_mermaid(with_styles=False)}"
