"""Program for an interpreter that has Mem0: adds facts, searches, writes the found ids.

A script, started by `mem0_peer` as `python -I mem0_process.py task.json answer.json`. It
imports nothing of InferScale, and works without a network.
"""

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any


def main(task_file: str, answer_file: str) -> None:
    """Read the task, do it, and write the answer: the fields of `mem0_peer.Mem0Answer`."""
    from importlib.metadata import version

    task = json.loads(Path(task_file).read_text(encoding="utf-8"))
    memory = _memory(Path(task_file).parent, task["model"], task["dimension"])
    answer: dict[str, Any] = {
        "version": version("mem0ai"),
        "found": {},
        "add_ms": [],
        "search_ms": [],
    }
    for each in task["owners"]:
        for fact_id, text in each["facts"]:
            began = perf_counter()
            memory.add(text, user_id=each["owner"], metadata={"fact": fact_id}, infer=False)
            answer["add_ms"].append((perf_counter() - began) * 1000)
        for question_id, text in each["questions"]:
            began = perf_counter()
            owner = {"user_id": each["owner"]}
            results = memory.search(text, filters=owner, top_k=task["k"], threshold=0.0)
            answer["search_ms"].append((perf_counter() - began) * 1000)
            facts = [result["metadata"]["fact"] for result in results["results"]]
            answer["found"][question_id] = facts
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


def _memory(folder: Path, model: str, dimension: int) -> Any:
    """Mem0 with a local store, the given embedding model, and an LLM that is never asked."""
    from mem0 import Memory

    store = {"path": str(folder / "qdrant"), "embedding_model_dims": dimension}
    return Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": {
                "provider": "huggingface",
                "config": {"model": model, "embedding_dims": dimension},
            },
            "llm": {"provider": "openai", "config": {"api_key": "never asked"}},
            "history_db_path": str(folder / "history.db"),
        }
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
