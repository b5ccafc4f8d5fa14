"""The memory panel: every fact, add, forget."""

from tests.ui.fake_service import FakeService
from ui.facts import Facts


async def test_every_fact_is_listed_newest_first() -> None:
    service = FakeService()
    for number in range(60):
        await service.add_fact("ann", f"Fact {number}.")
    listed = (await Facts(service, "ann").listed())["facts"]
    assert "60 facts" in listed
    assert listed.index("Fact 59.") < listed.index("Fact 0.")
    assert listed.count("<li>") == 60


async def test_a_fact_is_shown_as_text() -> None:
    service = FakeService()
    await service.add_fact("ann", '<img src=x onerror="alert(1)">')
    assert "<img" not in (await Facts(service, "ann").listed())["facts"]


async def test_an_added_fact_appears_and_the_box_is_emptied() -> None:
    changes = await Facts(FakeService(), "ann").add("I like plums.")
    assert changes["new_fact"] == ""
    assert "I like plums." in changes["facts"]


async def test_a_fact_that_cannot_be_added_stays_in_its_box() -> None:
    changes = await Facts(FakeService(), "ann").add(" ")
    assert "new_fact" not in changes
    assert "The message is empty" in changes["facts_notice"]


async def test_a_forgotten_fact_leaves_the_list() -> None:
    service = FakeService()
    fact = await service.add_fact("ann", "I like plums.")
    steps = [step async for step in Facts(service, "ann").forget(fact.id)]
    assert "Forgetting" in steps[0]["facts_notice"]
    assert "plums" not in steps[-1]["facts"]
    assert steps[-1]["facts_notice"] == ""


async def test_forgetting_what_is_not_there_says_so() -> None:
    steps = [step async for step in Facts(FakeService(), "ann").forget("f9")]
    assert "no such fact" in steps[-1]["facts_notice"]
