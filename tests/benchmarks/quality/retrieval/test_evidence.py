"""Evidence tasks, and recall of evidence that can be counted by hand."""

from pathlib import Path

from benchmarks.quality.datasets.locomo import ADVERSARIAL, load
from benchmarks.quality.retrieval.evidence import evidence_task, sampled, summary
from tests.benchmarks.quality.datasets.locomo_builder import written


def test_observations_become_facts_in_time_order_with_the_turns_that_said_them(
    tmp_path: Path,
) -> None:
    task = evidence_task(load(written(tmp_path))[0])
    assert [fact.text for fact in task.facts] == [
        "Vera has a new bike.",
        "Olaf works in a café.",
        "Olaf sold his café, and Vera bought goats.",
        "Vera bought two goats named Pip and Lo.",
    ]
    assert task.facts[2].source == "I sold my café in Köln. I bought two goats, Pip and Lo."
    assert str(task.facts[2].when) == "2024-06-02"
    assert [task.evidence[q.id] for q in task.questions] == [
        {"D10:1"},
        {"D2:1", "D10:2"},
        {"D2:2"},
        {"D2:1"},
    ]


def test_recall_is_the_share_of_covered_evidence_without_adversarial_questions(
    tmp_path: Path,
) -> None:
    task = evidence_task(load(written(tmp_path))[0])
    sold, own, _works, _colour = (q.id for q in task.questions)
    bike, works, both, _goats = (fact.id for fact in task.facts)
    nothing: dict[str, list[str]] = {q.id: [] for q in task.questions}
    report = summary([task], nothing | {sold: [works, both], own: [works, bike]}, (1, 2), seed=0)
    overall = report["overall"]
    assert overall["n"] == 3
    figures = {
        name: [overall[name][k]["value"] for k in ("1", "2")] for name in ("recall", "all_evidence")
    }
    assert figures == {"recall": [0, 0.5], "all_evidence": [0, round(1 / 3, 4)]}
    by_category = report["by_category"]
    assert list(by_category) == ["multi-hop", "temporal", "single-hop", "adversarial"]
    assert by_category["multi-hop"]["recall"]["2"]["value"] == 0.5


def test_a_sample_is_the_same_for_a_seed_and_has_nothing_adversarial(tmp_path: Path) -> None:
    task = evidence_task(load(written(tmp_path))[0])

    def drawn(limit: int) -> set[str]:
        (some,) = sampled([task], limit, seed=3)
        assert (some.facts, some.evidence) == (task.facts, task.evidence)
        return {question.id for question in some.questions}

    all_of_them = {q.id for q in task.questions if q.category != ADVERSARIAL}
    assert drawn(9) == all_of_them
    assert drawn(1) < drawn(2) < drawn(3) == all_of_them
