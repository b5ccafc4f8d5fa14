"""The measure of an extractor: facts found, missed and made up."""

from pathlib import Path

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.rule_extractor import RuleExtractor
from benchmarks.quality.extraction_recall import measure_extraction
from memory_engine.errors import EngineError
from tests.benchmarks.quality.datasets.persona_chat_builder import Row, write_dialogues

ROW = (
    ["I have a red boat.", "I hate opera."],
    ["I am a retired nurse."],
    ["I own a red boat.", "I'm a retired nurse. I love it!", "What do you do? I ski.", "Bye!"],
)


class ScriptedExtractor:
    """An extractor that finds the given texts in every turn."""

    quick = True

    def __init__(self, *found: str) -> None:
        self._found = found

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        if not self._found:
            raise EngineError("no answer")
        return [Candidate(text, text) for text in self._found]


async def test_the_rules_find_what_is_stated_and_miss_what_points_elsewhere(tmp_path: Path) -> None:
    report = await measure_extraction(write_dialogues(tmp_path, [ROW]), RuleExtractor(), None, 0)
    assert (report["dialogues"], report["turns"], report["failed_turns"]) == (1, 4, 0)
    assert (report["statements"], report["found"], report["facts"]) == (3, 3, 3)
    assert report["recall"] == 1.0
    assert report["grounded_precision"] == 1.0
    assert report["missed"] == {}
    assert (report["persona_sentences"], report["persona_said"], report["persona_found"]) == (
        3,
        2,
        2,
    )


async def test_what_is_missed_is_grouped_by_reason(tmp_path: Path) -> None:
    turns = ["I enjoy it so much there.", "I yodel with gusto on Sundays."]
    path = write_dialogues(tmp_path, [([], [], turns)])
    report = await measure_extraction(path, ScriptedExtractor("Nothing of this"), None, 0)
    assert report["recall"] == 0.0
    assert report["missed"] == {"points to something said before": 1, "other": 1}
    assert report["missed_examples"]["other"] == ["I yodel with gusto on Sundays."]


async def test_facts_beside_the_statements_are_counted_and_ungrounded_ones_never_pass(
    tmp_path: Path,
) -> None:
    path = write_dialogues(tmp_path, [([], [], ["The boat is red. I ski."])])
    found = ScriptedExtractor("The boat is red.", "The boat is blue.", "I ski.")
    report = await measure_extraction(path, found, None, 0)
    assert (report["facts"], report["beside"], report["ungrounded"]) == (2, 1, [])
    assert report["beside_examples"] == ["The boat is red."]


async def test_a_turn_that_could_not_be_read_is_counted(tmp_path: Path) -> None:
    report = await measure_extraction(
        write_dialogues(tmp_path, [ROW]), ScriptedExtractor(), None, 0
    )
    assert (report["failed_turns"], report["facts"], report["recall"]) == (4, 0, 0.0)
    assert report["grounded_precision"] == 1.0


async def test_a_seed_draws_the_same_dialogues_again(tmp_path: Path) -> None:
    rows: list[Row] = [([], [], [f"I own {n} boats."] * n) for n in range(1, 9)]
    path = write_dialogues(tmp_path, rows)
    turns = [
        (await measure_extraction(path, RuleExtractor(), 3, seed))["turns"] for seed in (1, 1, 2)
    ]
    assert turns[0] == turns[1]
    assert turns[0] != turns[2]
