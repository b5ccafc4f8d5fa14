"""The memory list: find, add, edit, forget, undo, and what is told of a fact."""

from pathlib import Path

from tests.agent.agent_builder import Parts, opened, url_of
from ui.memory.fact_panel import FactPanel
from ui.parts.page_states import Changes


async def act(parts: Parts, act: str, fact_id: str, text: str = "") -> list[Changes]:
    click = {"id": fact_id, "act": act, "text": text}
    return [step async for step in FactPanel(parts.service, "ann").act(click, "", None)]


async def test_every_fact_is_listed_newest_first(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_facts("ann", [f"I own boat {n}." for n in range(60)])
        listed = (await FactPanel(parts.service, "ann").listed())["facts"]
    assert "60 facts" in listed
    assert listed.index("boat 59.") < listed.index("boat 0.")
    assert listed.count("<li>") == 60


async def test_of_very_many_facts_the_newest_are_shown_and_search_finds_the_rest(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_facts("ann", [f"I own boat {n}." for n in range(210)])
        facts = FactPanel(parts.service, "ann")
        listed = (await facts.listed())["facts"]
        assert listed.count("<li>") == 200
        assert "210 facts. The newest 200 are shown" in listed
        found = (await facts.listed("BOAT 7."))["facts"]
    assert "1 of 210 facts" in found
    assert "boat 7." in found


async def test_a_fact_is_shown_as_text(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_fact("ann", '<img src=x onerror="alert(1)">')
        assert "<img" not in (await FactPanel(parts.service, "ann").listed())["facts"]


async def test_an_added_fact_appears_and_the_box_is_emptied(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        changes = await FactPanel(parts.service, "ann").add("I like plums.", "", None)
    assert changes["new_fact"] == ""
    assert "I like plums." in changes["facts"]


async def test_a_fact_that_cannot_be_added_stays_in_its_box(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        changes = await FactPanel(parts.service, "ann").add(" ", "", None)
    assert "new_fact" not in changes
    assert "is empty" in changes["facts_notice"]


async def test_an_open_fact_tells_its_source_history_and_whereabouts(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.say("By the way: I love <plums>.")
        (fact,) = await parts.service.facts("ann")
        changes = (await act(parts, "show", fact.id))[-1]
    shown = changes["facts"]
    assert changes["opened"] == fact.id
    assert "<q>By the way: I love &lt;plums&gt;.</q>" in shown
    assert "Encoded: 1000 B of KV" in shown
    assert "<dt>Holds</dt><dd>since " in shown
    assert "Added, " in shown
    assert "Undo last change" not in shown


async def test_an_edited_fact_can_be_undone_and_what_it_said_is_found_as_past(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        fact = await parts.service.add_fact("ann", "I like plums.")
        edited = (await act(parts, "edit", fact.id, "I like pears."))[-1]
        assert "Saved." in edited["facts_notice"]
        assert "Undo last change" in edited["facts"]
        assert "<dt>Before</dt><dd>I like plums.</dd>" in edited["facts"]
        facts = FactPanel(parts.service, "ann")
        past = (await facts.past("", True))["past_facts"]
        assert "I like plums." in past
        assert "Replaced, " in past
        assert (await facts.past("pears", True))["past_facts"].count("<li>") == 0
        assert (await facts.past("", False))["past_facts"] == ""
        undone = (await act(parts, "undo", edited["opened"]))[-1]
        assert "Undone." in undone["facts_notice"]
        assert await parts.known() == ["I like plums."]


async def test_an_edit_that_cannot_be_saved_is_explained(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        fact = await parts.service.add_fact("ann", "I like plums.")
        assert "is empty" in (await act(parts, "edit", fact.id, " "))[-1]["facts_notice"]
        assert await parts.known() == ["I like plums."]


async def test_a_forgotten_fact_leaves_the_list(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        fact = await parts.service.add_fact("ann", "I like plums.")
        steps = await act(parts, "forget", fact.id)
    assert "Forgetting" in steps[0]["facts_notice"]
    assert "plums" not in steps[-1]["facts"]
    assert steps[-1]["facts_notice"] == ""


async def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        assert "no fact" in (await act(parts, "forget", "9"))[-1]["facts_notice"]
        assert (await act(parts, "show", "9"))[-1]["opened"] is None
