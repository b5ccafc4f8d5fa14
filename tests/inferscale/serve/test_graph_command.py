"""`inferscale graph`: both graphs as Mermaid, without vLLM."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from agent.remember.remember_graph import remember_graph
from agent.reply.reply_graph import reply_graph
from inferscale.commands import app
from inferscale.serve.graph_command import Graph, as_mermaid


def test_both_graphs_are_printed_with_every_node() -> None:
    result = CliRunner().invoke(app, ["graph"])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("graph TD;") == 2
    reply, remember = result.stdout.split("%% remember")
    for text, graph in ((reply, reply_graph()), (remember, remember_graph())):
        for node in graph.get_graph().nodes:
            assert node in text


def test_edges_follow_the_way_of_a_message() -> None:
    _, _, *edges = as_mermaid(Graph.REPLY).splitlines()
    ways = [edge.strip().rstrip(";").split(" --> ") for edge in edges]
    assert ways[0][0] == "__start__"
    assert ways[-1][1] == "__end__"
    assert [target for _, target in ways[:-1]] == [source for source, _ in ways[1:]]


@pytest.mark.parametrize(("name", "other"), [("reply", "remember"), ("remember", "reply")])
def test_one_graph_is_printed_alone(name: str, other: str) -> None:
    result = CliRunner().invoke(app, ["graph", name])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"%% {name}\ngraph TD;\n")
    assert f"%% {other}" not in result.stdout


def test_an_unknown_graph_is_told() -> None:
    assert CliRunner().invoke(app, ["graph", "forget"]).exit_code == 2


def test_no_vllm_is_loaded() -> None:
    program = (
        "import sys; from inferscale.serve.graph_command import graph; graph(); "
        "print('vllm' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "False"
